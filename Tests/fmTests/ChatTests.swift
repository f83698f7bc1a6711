import Foundation
import FoundationModels
import FoundationModelsTesting
import Inference
import Synchronization
import TestSupport
import Testing
import fm

/// Lines as a user would type them, then the end.
final class TypedLines: InputLines {
    private var lines: [InputLine]
    init(_ lines: [InputLine]) { self.lines = lines }
    convenience init(_ texts: String...) { self.init(texts.map(InputLine.text)) }
    func read(prompt: String) -> InputLine { lines.isEmpty ? .end : lines.removeFirst() }
}

@Suite struct ChatTests {
    let fixture = CommandFixture()

    init() { fixture.installModel() }

    private func chat(
        _ lines: TypedLines, _ turns: [[ScriptedStep]], model: ScriptedLanguageModel? = nil
    ) async throws -> (output: String, messages: String) {
        let (context, finish) = fixture.context(model ?? ScriptedLanguageModel(turns: turns))
        let sample = try ModelStore(environment: fixture.environment).resolve("sample")
        var chat = Chat(
            context: context, options: GenerationOptions(), showsStatistics: false, model: .file(sample),
            instructions: "be kind")
        try await chat.run(lines)
        return finish()
    }

    @Test func theConversationIsRemembered() async throws {
        let model = ScriptedLanguageModel(turns: [[.text("one")], [.text("two")]])
        let said = try await chat(TypedLines("first", "second"), [], model: model)
        #expect(said.output == "one\ntwo\n")
        #expect(said.messages == "")
        let text = model.requests.map { "\($0.transcript)" }
        #expect(text[1].contains("first") && text[1].contains("one") && text[1].contains("be kind"))
        #expect(!text[0].contains("second"))
    }

    @Test func linesGoOnAndAreThrownAway() async throws {
        let model = ScriptedLanguageModel(turns: [[.text("x")]])
        let lines = TypedLines([
            .text("thrown\\"), .interrupted, .text("kept\\"), .text("whole"), .text("  "), .interrupted,
        ])
        let said = try await chat(lines, [], model: model)
        #expect(model.requests.count == 1)
        let text = "\(try #require(model.requests.first).transcript)"
        #expect(text.contains("kept\nwhole") && !text.contains("thrown"))
        #expect(said.messages == "(/quit or Ctrl-D ends the conversation)\n")
    }

    @Test func aConversationIsSavedAndLoaded() async throws {
        let path = "\(fixture.folder.path)/conversation.json"
        let saved = try await chat(TypedLines("hello", "/save \(path)"), [[.text("good day")]])
        #expect(saved.messages == "saved to \(path)\n")
        let model = ScriptedLanguageModel(turns: [[.text("again")]])
        let loaded = try await chat(TypedLines("/load \(path)", "more"), [], model: model)
        #expect(loaded.output == "again\n")
        let text = "\(try #require(model.requests.first).transcript)"
        #expect(text.contains("good day") && text.contains("hello") && text.contains("be kind"))
    }

    @Test func clearForgetsAllButTheInstructions() async throws {
        let model = ScriptedLanguageModel(turns: [[.text("one")], [.text("two")]])
        _ = try await chat(TypedLines("first", "/clear", "second"), [], model: model)
        let text = "\(model.requests[1].transcript)"
        #expect(!text.contains("first") && text.contains("be kind"))
    }

    @Test func anotherModelGoesOnWithTheConversation() async throws {
        fixture.installModel("other")
        let model = ScriptedLanguageModel(turns: [[.text("one")], [.text("two")]])
        let said = try await chat(
            TypedLines("first", "/model", "/model other", "/model oter", "second"), [], model: model)
        #expect(said.messages.contains("sample (\(fixture.folder.path)/models/sample.gguf)"))
        #expect(said.messages.contains("the conversation goes on with other"))
        #expect(said.messages.contains("no model is named 'oter'. Did you mean 'other'?"))
        #expect("\(model.requests[1].transcript)".contains("first"))
    }

    @Test func mistakesChangeNothing() async throws {
        fixture.folder.write(Array("{}".utf8), "bad.json")
        let said = try await chat(
            TypedLines(
                "/hlep", "/xyzzy", "/save", "/save /nonexistent/x", "/load \(fixture.folder.path)/bad.json", "hello",
                "/quit", "never"),
            [[.text("still here")]])
        #expect(said.output == "still here\n")
        let lines = said.messages.split(separator: "\n")
        #expect(lines.count == 5)
        #expect(lines[0] == "fm: there is no command /hlep, did you mean /help?")
        #expect(lines[1] == "fm: there is no command /xyzzy; /help lists them")
        #expect(lines[2] == "fm: /save needs a file")
        #expect(lines[3].hasPrefix("fm: cannot write '/nonexistent/x'"))
        #expect(lines[4].contains("is no saved conversation"))
    }

    @Test func anErrorOfTheModelEndsNothing() async throws {
        let error = LanguageModelError.contextSizeExceeded(
            .init(contextSize: 10, tokenCount: 20, debugDescription: "d"))
        let said = try await chat(TypedLines("first", "second"), [[.fail(error)], [.text("fine")]])
        #expect(said.output.hasSuffix("fine\n"))
        #expect(said.messages.hasPrefix("fm: ") && said.messages.hasSuffix("/clear begins anew.\n"))
    }
}
