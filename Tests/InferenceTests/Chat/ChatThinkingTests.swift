import Foundation
import Inference
import TestSupport
import Testing
import Tokenizers

@Suite struct ChatThinkingTests {
    /// Turns in brackets, and a form of the generation prompt.
    private static func template(_ generation: String, head: String = "") -> String {
        """
        \(head){%- for message in messages -%}[{{ message.role }}]{{ message.content }}[end]{%- endfor -%}
        {%- if add_generation_prompt -%}[assistant]\(generation){%- endif -%}
        """
    }

    /// A thought that is skipped when it is switched off, as in Qwen3.
    static let qwen3 = TinyModel.thinkingTemplate
    /// A thought that always begins, as in DeepSeek-R1.
    static let deepSeekR1 = template("{{- '<think>\\n' }}")
    static let deepSeekV31 = template("{%- if thinking -%}<think>{%- else -%}</think>{%- endif -%}")

    @Test func formsAreReadOutOfTemplates() {
        let skipping = "\n\n</think>\n\n"
        #expect(
            ChatThinking(template: Self.qwen3)
                == ChatThinking(variable: "enable_thinking", opening: "<think>\n", skipping: ""))
        #expect(
            ChatThinking(template: Self.deepSeekR1) == ChatThinking(variable: nil, opening: "", skipping: skipping))
        #expect(
            ChatThinking(template: Self.deepSeekV31)
                == ChatThinking(variable: "thinking", opening: "", skipping: ""))
        // A switch that opens the thought itself.
        #expect(
            ChatThinking(
                template: Self.template(
                    "{%- if enable_thinking is undefined or enable_thinking -%}{{- '<think>\\n' }}{%- endif -%}"))
                == ChatThinking(variable: "enable_thinking", opening: "", skipping: ""))
    }

    @Test func otherTemplatesAreThoseOfModelsThatDoNotThink() {
        #expect(ChatThinking(template: Self.template("")) == nil)
        #expect(ChatThinking(template: "{{ think") == nil)
        // Thoughts of earlier turns are taken out, but none is asked for.
        #expect(
            ChatThinking(
                template: Self.template("", head: "{%- set x = messages[0].content.split('</think>')[-1] -%}")) == nil)
        #expect(
            ChatThinking(
                template: Self.template(
                    "", head: "{%- if thinking -%}Use <think></think> and <response></response>{%- endif -%}")) == nil)
    }

    @Test("prompts end where the thought begins, or where the answer does")
    func prompts() throws {
        let cases = [
            (Self.qwen3, "[assistant]<think>\n", "[assistant]<think>\n\n</think>\n\n"),
            (Self.deepSeekR1, "[assistant]<think>\n", "[assistant]<think>\n\n\n</think>\n\n"),
            (Self.deepSeekV31, "[assistant]<think>", "[assistant]</think>"),
            (Self.template(""), "[assistant]", "[assistant]"),
        ]
        for (template, thinking, answering) in cases {
            let folder = try TemporaryFolder()
            try TinyModel.write(to: folder.file()) { $0.pairs.append(("tokenizer.chat_template", .string(template))) }
            let engine = try Engine.load(folder.file(), options: EngineOptions(threadCount: 1))
            func text(_ thinks: Bool, addsGenerationPrompt: Bool = true) throws -> String {
                let tokens = try engine.tokens(
                    of: [ChatMessage(.user, "Q")], thinks: thinks, addsGenerationPrompt: addsGenerationPrompt)
                return String(decoding: tokens.flatMap { engine.tokenizer.bytes(of: $0) }, as: UTF8.self)
            }
            #expect(try text(true) == "[user]Q[end]" + thinking)
            #expect(try text(false) == "[user]Q[end]" + answering)
            #expect(try text(true, addsGenerationPrompt: false) == "[user]Q[end]")
        }
    }
}
