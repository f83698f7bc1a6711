import Foundation
import JSON
import Jinja
import Tokenizers

/// How a model wants a conversation written: the Jinja template of its file, or a substitute.
package struct ChatTemplate: Sendable {
    package enum Origin: Sendable, Hashable {
        case file
        /// The file has no template; this one is for its vocabulary.
        case substitute(name: String)
    }

    /// The template's text, after the repairs of `repair(_:)`.
    package let source: String
    package let origin: Origin
    private let template: Template
    /// What some files have for conversations with tools.
    private let toolTemplate: Template?
    private let beginOfText: String
    private let endOfText: String

    package init(_ file: GGUFFile, tokenizer: Tokenizer) throws(InferenceError) {
        let own = try file.optional("tokenizer.chat_template", as: "a string", \.stringValue)
        let substitute = SubstituteTemplate.choose(for: tokenizer)
        if let own, own.contains(where: { !$0.isWhitespace }) {
            source = Self.repair(own)
            origin = .file
        } else {
            source = substitute.source
            origin = .substitute(name: substitute.name)
        }
        let tools = try file.optional("tokenizer.chat_template.tool_use", as: "a string", \.stringValue)
        do {
            template = try Template(source)
            toolTemplate = try tools.map { source throws(JinjaError) in try Template(Self.repair(source)) }
        } catch { throw .template(error) }
        beginOfText = tokenizer.bosToken.flatMap { tokenizer.name(of: $0) } ?? ""
        endOfText = tokenizer.eosToken.flatMap { tokenizer.name(of: $0) } ?? ""
    }

    /// The prompt for a conversation, in which everything but the template's own words, its tokens and the roles is marked
    /// as content.
    /// - Parameters:
    ///   - addsGenerationPrompt: Whether the text ends where the model's answer begins.
    ///   - options: Further variables for the template, such as `enable_thinking`.
    package func render(
        _ messages: [ChatMessage], tools: [ChatTool] = [], addsGenerationPrompt: Bool = true,
        options: JSONObject = [:], now: Date = Date()
    ) throws(InferenceError) -> ChatPrompt {
        var context = options
        context["messages"] = .array(messages.map(\.json))
        if !tools.isEmpty { context["tools"] = .array(tools.map(\.json)) }
        context["add_generation_prompt"] = .bool(addsGenerationPrompt)
        context["bos_token"] = .string(beginOfText)
        context["eos_token"] = .string(endOfText)
        do {
            let result = try (tools.isEmpty ? template : toolTemplate ?? template)
                .renderTracked(context, trusting: Self.trusted, now: now)
            return ChatPrompt(text: result.string, contentRanges: result.contentRanges)
        } catch { throw .template(error) }
    }

    /// What of the context is ours: templates make control tokens of roles, as in `<|user|>`.
    package static let trusted: TrustedPaths = [
        ["bos_token"], ["eos_token"], ["messages", TrustedPaths.anyElement, "role"],
    ]

    /// The tokens of a conversation's prompt, as `render` has it.
    /// - Parameter contextSize: Where given, a prompt that cannot fit it is refused by its length.
    package func tokens(
        of messages: [ChatMessage], tools: [ChatTool] = [], addsGenerationPrompt: Bool = true,
        options: JSONObject = [:], now: Date = Date(), tokenizer: Tokenizer, contextSize: Int? = nil
    ) throws(InferenceError) -> [TokenID] {
        let prompt = try render(
            messages, tools: tools, addsGenerationPrompt: addsGenerationPrompt, options: options, now: now)
        if let contextSize { try tokenizer.checkLength(of: prompt.text, contextSize: contextSize) }
        // Many templates write the beginning-of-text token themselves; it must not come twice.
        let begins =
            !beginOfText.isEmpty && prompt.text.utf8.starts(with: beginOfText.utf8)
            && (prompt.contentRanges.first?.lowerBound ?? .max) >= beginOfText.utf8.count
        return tokenizer.encode(prompt.text, contentRanges: prompt.contentRanges, addsBOS: !begins)
    }

    /// Mends a fault that is in many published files: the example of a tool call in Qwen2.5's template was written for a
    /// language that doubles braces, and models copy the doubled braces.
    static func repair(_ source: String) -> String {
        // What is too long is refused when it is parsed.
        guard source.utf8.count <= Template.maximumSourceBytes else { return source }
        let example = #"{\"name\": <function-name>, \"arguments\": <args-json-object>}"#
        return source.replacingOccurrences(of: "{\(example)}", with: example)
    }
}

/// A conversation as its template writes it.
package struct ChatPrompt: Sendable, Hashable {
    package let text: String
    /// What does not come from the template itself, in bytes of UTF-8, ascending. No control token may be made of it.
    package let contentRanges: [Range<Int>]
}

/// Templates for files without one.
struct SubstituteTemplate {
    let name: String
    let source: String

    static func choose(for tokenizer: Tokenizer) -> SubstituteTemplate {
        tokenizer.token(named: "<start_of_turn>") == nil ? chatML : gemma
    }

    /// The format of many models, and the one that models without any follow best.
    static let chatML = SubstituteTemplate(
        name: "ChatML",
        source: """
            {%- for message in messages %}{{ '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}\
            {%- endfor %}{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{%- endif %}
            """)

    /// Gemma has no system role: the system text stands before the first user text.
    static let gemma = SubstituteTemplate(
        name: "Gemma",
        source: """
            {{- bos_token }}{%- set state = namespace(system='') %}{%- for message in messages %}\
            {%- if message.role == 'system' %}{%- set state.system = message.content + '\\n\\n' %}{%- else %}\
            {{- '<start_of_turn>' + ('model' if message.role == 'assistant' else 'user') + '\\n' + state.system \
            + message.content + '<end_of_turn>\\n' }}{%- set state.system = '' %}{%- endif %}{%- endfor %}\
            {%- if add_generation_prompt %}{{- '<start_of_turn>model\\n' }}{%- endif %}
            """)
}
