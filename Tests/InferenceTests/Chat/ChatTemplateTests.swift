import Foundation
import Inference
import JSON
import TestSupport
import Testing
import Tokenizers

@Suite("Chat templates")
struct ChatTemplateTests {
    private func template(_ changes: (inout GGUFWriter) -> Void) throws -> ChatTemplate {
        let folder = try TemporaryFolder()
        try TinyModel.write(to: folder.file(), changes: changes)
        let file = try GGUFFile(folder.file())
        return try ChatTemplate(file, tokenizer: Tokenizer(file.tokenizerDescription()))
    }

    private let conversation = [
        ChatMessage(.system, "Be brief."), ChatMessage(.user, "Hi"), ChatMessage(.assistant, "Hello"),
        ChatMessage(.user, "Bye"),
    ]

    @Test("a file without a template gets ChatML")
    func chatML() throws {
        let template = try template { _ in }
        #expect(template.origin == .substitute(name: "ChatML"))
        #expect(
            try template.render(conversation).text == """
                <|im_start|>system
                Be brief.<|im_end|>
                <|im_start|>user
                Hi<|im_end|>
                <|im_start|>assistant
                Hello<|im_end|>
                <|im_start|>user
                Bye<|im_end|>
                <|im_start|>assistant

                """)
    }

    @Test("a vocabulary with Gemma's turns gets Gemma's format")
    func gemma() throws {
        let template = try template { writer in
            let index = writer.pairs.firstIndex { $0.key == "tokenizer.ggml.tokens" }!
            var tokens = TinyModel.vocabulary().tokens
            tokens[tokens.count - 2] = "<start_of_turn>"
            writer.pairs[index].value = .strings(tokens)
        }
        #expect(
            try template.render(conversation).text == """
                <start_of_turn>user
                Be brief.

                Hi<end_of_turn>
                <start_of_turn>model
                Hello<end_of_turn>
                <start_of_turn>user
                Bye<end_of_turn>
                <start_of_turn>model

                """)
    }

    @Test("the file's own template sees messages, tools, special tokens and options")
    func own() throws {
        let source = """
            {{ eos_token }}|{% for m in messages %}{{ m.role }}:{{ m.content }}\
            {% for c in m.tool_calls %}[{{ c.function.name }} {{ c.function.arguments | tojson }}]{% endfor %}\
            {% if m.name %}({{ m.name }}){% endif %};{% endfor %}\
            {% for t in tools %}{{ t.function.name }}={{ t.function.parameters.type }}{% endfor %}\
            {{ '>' if add_generation_prompt }}{{ enable_thinking }}
            """
        let template = try template { $0.pairs.append(("tokenizer.chat_template", .string(source))) }
        #expect(template.origin == .file)
        let call = ChatMessage.ToolCall(id: "1", name: "add", arguments: ["a": 1, "b": [2]])
        let prompt = try template.render(
            [
                ChatMessage(.user, "1+2"), ChatMessage(.assistant, "", toolCalls: [call]),
                ChatMessage(.tool, "3", toolCallID: "1", toolName: "add"),
            ],
            tools: [ChatTool(name: "add", description: "Adds", parameters: ["type": "object"])],
            options: ["enable_thinking": .bool(false)])
        #expect(prompt.text == #"<|im_end|>|user:1+2;assistant:[add {"a": 1, "b": [2]}];tool:3(add);add=object>False"#)
    }

    @Test("the doubled braces of a published template are mended")
    func repair() throws {
        let source = #"{{- "x {{\"name\": <function-name>, \"arguments\": <args-json-object>}} y" }}"#
        let template = try template { $0.pairs.append(("tokenizer.chat_template", .string(source))) }
        #expect(try template.render([]).text == #"x {"name": <function-name>, "arguments": <args-json-object>} y"#)
    }

    @Test("a template that is none, or that fails, is a typed error")
    func errors() throws {
        let error = #expect(throws: InferenceError.self) {
            try template { $0.pairs.append(("tokenizer.chat_template", .string("{% for %}"))) }
        }
        guard case .template? = error else { throw try #require(error) }
        let raising = try template {
            $0.pairs.append(("tokenizer.chat_template", .string("{{ raise_exception('no system role') }}")))
        }
        let raised = #expect(throws: InferenceError.self) { try raising.render(conversation) }
        #expect(try #require(raised).description.contains("no system role"))
    }
}
