import JSON
import Jinja

/// How a model that thinks in tags is brought to think, or to answer at once.
///
/// It is not listed by the names of families but read out of the model's own chat template, which is rendered with its switch on
/// and off.
package struct ChatThinking: Sendable, Hashable {
    /// The template's variable that says whether the model thinks; nil where it always does.
    package var variable: String?
    /// What stands behind a prompt with thinking on so that a thought has begun; empty where the template writes it.
    package var opening: String
    /// What stands behind a prompt with thinking off so that no thought begins.
    package var skipping: String
    package init(variable: String?, opening: String, skipping: String) {
        self.variable = variable
        self.opening = opening
        self.skipping = skipping
    }

    /// Between the thoughts and the answer.
    package static let closing = "\n\(ThinkingTags.closing)\n\n"

    /// The names that templates give the switch: Qwen3, SmolLM3; DeepSeek V3.1.
    package static let variables = ["enable_thinking", "thinking"]

    /// Nil for a template of a model that does not think, or does so in a form of its own.
    /// - Parameter render: A prompt for a conversation, ending where the answer begins, with variables for the template.
    init?(_ render: (JSONObject) -> String?) {
        guard let plain = render([:]) else { return nil }
        for variable in Self.variables {
            guard let on = render([variable: true]), let off = render([variable: false]), on != off else { continue }
            // Granite's thoughts are followed by an answer in tags.
            guard Self.hasTag(on) || Self.hasTag(off), !on.contains("<response>") else { return nil }
            self.variable = variable
            opening = Self.opening(behind: on)
            skipping = Self.skipping(behind: off)
            return
        }
        guard Self.ends(plain, with: ThinkingTags.opening) else { return nil }
        variable = nil
        opening = ""
        skipping = Self.skipping(behind: plain)
    }

    private static func hasTag(_ text: String) -> Bool {
        text.contains(ThinkingTags.opening) || text.contains(ThinkingTags.closing)
    }

    private static func ends(_ prompt: String, with tag: String) -> Bool {
        prompt.reversed().drop(while: \.isWhitespace).starts(with: tag.reversed())
    }

    private static func opening(behind prompt: String) -> String {
        ends(prompt, with: ThinkingTags.opening) ? "" : "\(ThinkingTags.opening)\n"
    }

    private static func skipping(behind prompt: String) -> String {
        ends(prompt, with: ThinkingTags.opening) ? "\n\(closing)" : ""
    }

    /// Reads it out of a template by itself, as a file's metadata has it, without the model.
    package init?(template source: String) {
        guard Self.mayThink(source), let template = try? Template(ChatTemplate.repair(source)) else { return nil }
        self.init { options in
            var context = options
            context["messages"] = .array([ChatMessage(.user, "Q").json])
            context["add_generation_prompt"] = true
            context["bos_token"] = ""
            context["eos_token"] = ""
            return try? template.renderTracked(context, trusting: ChatTemplate.trusted).string
        }
    }

    /// Whether a template is worth rendering: most know nothing of thinking.
    private static func mayThink(_ source: String) -> Bool { source.contains("think") }
}

extension ChatTemplate {
    /// How the model is brought to think; nil when it does not.
    package var thinking: ChatThinking? { ChatThinking(template: source) }
}
