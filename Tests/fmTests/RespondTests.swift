import Foundation
import FoundationModels
import FoundationModelsTesting
import JSON
import TestSupport
import Testing
import fm

@Suite struct RespondTests {
    let fixture = CommandFixture()

    init() { fixture.installModel() }

    @Test func theAnswerIsWrittenAndNothingElse() async {
        let outcome = await fixture.run(["respond", "hello"], [[.text("Good "), .text("day")]])
        #expect(outcome.output == "Good day\n")
        #expect(outcome.messages == "")
        #expect(outcome.code == .success)
        // A line break of the answer's own is enough.
        #expect(await fixture.run(["respond", "hello"], [[.text("line\n")]]).output == "line\n")
        #expect(
            await fixture.run(["respond", "hello"], [[.text("é"), .text("👩‍🚀"), .text("\u{301}")]]).output
                == "é👩‍🚀\u{301}\n")
    }

    @Test func promptAndInstructionsArrive() async throws {
        let model = ScriptedLanguageModel(turns: [[.text("x")]])
        fixture.folder.write(Array("from a file\n".utf8), "prompt.txt")
        let (context, finish) = fixture.context(model)
        let words = ["respond", "two", "words", "-i", "be brief", "-f", "\(fixture.folder.path)/prompt.txt"]
        let (command, arguments) = try #require(try CommandTable.parse(words))
        try await command.run(arguments, context)
        _ = finish()
        let transcript = try #require(model.requests.first).transcript
        let texts = transcript.map { "\($0)" }.joined(separator: "\n")
        #expect(texts.contains("be brief"))
        #expect(texts.contains("two words\n\nfrom a file"))
    }

    @Test func C9_anOverflowHasAStatusOfItsOwn() async {
        let overflow = LanguageModelError.contextSizeExceeded(
            .init(contextSize: 10, tokenCount: 20, debugDescription: "The largest entries are prompt 0 (18 tokens)."))
        let outcome = await fixture.run(["respond", "hello"], [[.fail(overflow)]])
        #expect(outcome.code == .contextOverflow && outcome.code.rawValue == 4)
        #expect(outcome.output == "")
        #expect(outcome.messages.contains("18 tokens"))
    }

    @Test func anEmptyAnswerIsSaid() async {
        let outcome = await fixture.run(
            ["respond", "hello"], [[.usage(input: 12, cached: 0, output: 0, reasoning: 0)]])
        #expect(outcome.output == "" && outcome.code == .success)
        #expect(outcome.messages == "fm: the answer is empty: the model ended it at once.\n")
    }

    @Test func greedyAllowsNoTemperature() async {
        for words in [["--temperature", "1.5"], ["--top-k", "3"], ["--top-p", "0.5"], ["--seed", "7"]] {
            let outcome = await fixture.run(["respond", "--greedy", "hello"] + words, [[.text("x")]])
            #expect(outcome.code == .usage, "\(words)")
            #expect(outcome.messages.contains("--greedy"))
            // A temperature of 0 is as greedy.
            guard words[0] != "--temperature" else { continue }
            let cold = await fixture.run(["respond", "--temperature", "0", "hello"] + words, [[.text("x")]])
            #expect(cold.code == .usage)
            #expect(cold.messages == "--temperature 0 always takes the likeliest token; it goes with no \(words[0])")
        }
        #expect(
            await fixture.run(["respond", "--greedy", "--temperature", "0", "hello"], [[.text("x")]]).code == .success)
    }

    @Test func aByteOrderMarkBeforeJSONIsPassedOver() async {
        let schema = #"{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}"#
        fixture.folder.write([0xef, 0xbb, 0xbf] + Array(schema.utf8), "schema.json")
        let outcome = await fixture.run(
            ["respond", "--schema", "\(fixture.folder.path)/schema.json", "hello"], [[.text(#"{"a": "x"}"#)]])
        #expect(outcome.code == .success, "\(outcome.messages)")
        #expect(outcome.output == "{\"a\": \"x\"}\n")
    }

    @Test func anUnfinishedValueNamesTheOption() async {
        let schema = #"{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}"#
        fixture.folder.write(Array(schema.utf8), "schema.json")
        let outcome = await fixture.run(
            ["respond", "--schema", "\(fixture.folder.path)/schema.json", "hello"], [[.text(#"{"a": "x"#)]])
        #expect(outcome.code == .unfinished && outcome.code.rawValue == 10)
        #expect(outcome.messages.contains("--max-tokens"), "\(outcome.messages)")
        // Standard output has whole values alone, and what came is not lost.
        #expect(outcome.output == "")
        #expect(outcome.messages.hasPrefix("{\"a\": \"x\n"), "\(outcome.messages)")
    }

    @Test func anUnfinishedValueIsInTheJSON() async throws {
        let schema = #"{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}"#
        fixture.folder.write(Array(schema.utf8), "schema.json")
        try TinyModel.write(to: URL(fileURLWithPath: "\(fixture.folder.path)/tiny.gguf"))
        let words = [
            "respond", "-m", "\(fixture.folder.path)/tiny.gguf", "--schema", "\(fixture.folder.path)/schema.json",
            "--max-tokens", "12", "--greedy", "--json", "hello",
        ]
        let outcome = await fixture.run(words, makeModel: Context.models([:]))
        #expect(outcome.code == .unfinished)
        #expect(outcome.messages.contains("The response ended after 12 tokens, the most that the request allows"))
        let value = try JSONValue(parsing: outcome.output)
        #expect(value["content"] == .null)
        #expect(value["unfinished_content"]?.stringValue?.hasPrefix("{\"a\": \"") == true, "\(outcome.output)")
        #expect(value["finish_reason"] == "length")
        #expect(value["usage"]?["output_tokens"] == 12)
    }

    @Test func aNumberThatIsCutOffIsNoValue() async throws {
        fixture.folder.write(Array(#"{"type": "integer", "minimum": 100000}"#.utf8), "schema.json")
        try TinyModel.write(to: URL(fileURLWithPath: "\(fixture.folder.path)/tiny.gguf"))
        let words = [
            "respond", "-m", "\(fixture.folder.path)/tiny.gguf", "--schema", "\(fixture.folder.path)/schema.json",
            "--max-tokens", "3", "--greedy", "hello",
        ]
        let outcome = await fixture.run(words, makeModel: Context.models([:]))
        #expect(outcome.code == .unfinished && outcome.output.isEmpty, "\(outcome)")
        #expect(outcome.messages.contains("The response ended after 3 tokens"), "\(outcome.messages)")
    }

    private static let badSchemas: [(String, [UInt8])] = [
        ("the key \"a\" comes a second time", Array(#"{"type": "object", "properties": {"a": {}, "a": {}}}"#.utf8)),
        // {} in UTF-16, "é" in Latin-1.
        ("there is no type 'text'", Array(#"{"type": "text"}"#.utf8)),
        ("is not UTF-8 text", [0xff, 0xfe, 0x7b, 0, 0x7d, 0]),
        ("is not UTF-8 text", [0x7b, 0x22, 0xe9, 0x22, 0x3a, 0x31, 0x7d]),
    ]

    @Test(arguments: badSchemas)
    func schemasThatAreNoGoodJSON(_ text: String, _ bytes: [UInt8]) async throws {
        fixture.folder.write(bytes, "schema.json")
        let outcome = await fixture.run(["respond", "--schema", "\(fixture.folder.path)/schema.json", "hello"], [])
        #expect(outcome.code == .schema && outcome.messages.contains(text), "\(outcome.messages)")
        #expect(outcome.messages.contains("schema.json"))
    }

    @Test(arguments: ["missing/talk.json", ""])
    func aConversationThatCannotBeKeptIsToldBeforeTheAnswer(_ name: String) async throws {
        let path = "\(fixture.folder.path)/\(name)"
        // Without a turn, an answer would be another failure.
        let outcome = await fixture.run(["respond", "--transcript", path, "hello"], [])
        #expect(outcome.code == .storage && outcome.messages.contains("cannot write"), "\(outcome.messages)")
    }

    @Test func schemasAreNoLongerThanAPromptCanBe() async throws {
        let long = #"{"type": "integer", "description": ""# + String(repeating: "a", count: 1 << 20) + #""}"#
        fixture.folder.write(Array(long.utf8), "schema.json")
        let outcome = await fixture.run(["respond", "--schema", "\(fixture.folder.path)/schema.json", "hello"], [])
        #expect(outcome.code == .schema && outcome.messages.contains("at most 1048576 bytes"), "\(outcome.messages)")
    }

    @Test func jsonHasAnswerUsageAndTimes() async throws {
        let outcome = await fixture.run(
            ["respond", "--json", "hello"], [[.text("day"), .usage(input: 12, cached: 3, output: 7, reasoning: 2)]])
        let value = try JSONValue(parsing: outcome.output)
        #expect(value["content"] == "day")
        #expect(value["model"] == "sample")
        let expected: JSONValue = ["input_tokens": 12, "cached_tokens": 3, "output_tokens": 7, "reasoning_tokens": 2]
        #expect(value["usage"] == expected)
        #expect(value["timings"]?["total_ms"]?.numberValue != nil)
        // The scripted model does not say why it ended, and nothing is made up.
        #expect(value["finish_reason"] == .null)
    }

    @Test func theRateIsThatOfTheText() async throws {
        // The choice of a tool comes before the text, and is counted when all is told.
        let turn: [ScriptedStep] = [
            .reasoning("hm", tokenCount: 1000), .text("a"), .wait(.milliseconds(100)), .text("b", tokenCount: 4),
            .usage(input: 12, output: 5000),
        ]
        let outcome = await fixture.run(["respond", "--json", "hello"], [turn])
        let timings = try JSONValue(parsing: outcome.output)["timings"]
        let rate = try #require(timings?["tokens_per_second"]?.numberValue).doubleValue
        #expect(rate > 0 && rate < 1000)
    }

    @Test func aContextIsForModelsOfThisMachine() async {
        let other = await fixture.run(["respond", "--context", "100", "hello"], [[.text("x")]])
        #expect(other.code == .usage && other.messages.contains("--context is for models of this machine"))
        let small = await fixture.run(["respond", "--context", "5", "hello"], [[.text("x")]])
        #expect(small.code == .usage && small.messages.contains("--context takes a whole number, 16 or more"))
    }

    @Test func theTypeOfTheCacheIsChosen() async throws {
        let path = "\(fixture.folder.path)/tiny.gguf"
        try TinyModel.write(to: URL(fileURLWithPath: path), width: 128)
        func answer(_ words: [String], variables: [String: String] = [:]) async -> CommandFixture.Outcome {
            var fixture = fixture
            fixture.variables = variables
            return await fixture.run(
                ["respond", "-m", path, "--greedy", "--max-tokens", "8", "the tin"] + words,
                makeModel: Context.models([:]))
        }
        let loads = { LocalModels.loadCount(of: URL(fileURLWithPath: path)) }
        let plain = await answer([])
        let small = await answer(["--cache-type", "q8_0"])
        #expect(plain.code == .success && small.code == .success, "\(plain.messages) \(small.messages)")
        #expect(!small.output.isEmpty && loads() == 2)
        // What is the default is no other engine.
        _ = await answer(["--cache-type", "f16"])
        #expect(loads() == 2)

        let wrong = await answer(["--cache-type", "q4_0"])
        #expect(wrong.code == .usage && wrong.messages.contains("--cache-type takes f16 or q8_0, not 'q4_0'"))
        let variable = await answer([], variables: ["FM_CACHE_TYPE": "8"])
        #expect(variable.code == .usage && variable.messages.contains("FM_CACHE_TYPE is wrong"), "\(variable.messages)")
        // Only what needs it looks at it.
        let flag = await answer(["--cache-type", "f16"], variables: ["FM_CACHE_TYPE": "8"])
        #expect(flag.code == .success && flag.output == plain.output, "\(flag)")
        var careless = fixture
        careless.variables = ["FM_CACHE_TYPE": "8"]
        #expect(await careless.run(["models"]).code == .success)
        let other = await fixture.run(["respond", "--cache-type", "q8_0", "hello"], [[.text("x")]])
        #expect(other.code == .usage && other.messages.contains("--cache-type is for models of this machine"))
    }

    @Test func aSchemaMakesJSON() async throws {
        fixture.folder.write(
            Array(
                #"{"title": "P", "type": "object", "properties": {"b": {"type": "integer"}, "a": {"type": "string"}}, "required": ["a", "b"], "additionalProperties": false}"#
                    .utf8), "schema.json")
        let path = "\(fixture.folder.path)/schema.json"
        let turn: [ScriptedStep] = [.text(#"{"b": 1, "#), .text(#""a": "x"}"#)]
        #expect(
            await fixture.run(["respond", "--schema", path, "hello"], [turn]).output == "{\"b\": 1, \"a\": \"x\"}\n")
        let outcome = await fixture.run(["respond", "--schema", path, "--json", "hello"], [turn])
        let expected: JSONValue = ["b": 1, "a": "x"]
        #expect(try JSONValue(parsing: outcome.output)["content"] == expected)
    }

    @Test func statisticsAreNoResult() async {
        let outcome = await fixture.run(
            ["respond", "--stats", "hello"], [[.text("day"), .usage(input: 12, cached: 3, output: 7)]])
        #expect(outcome.output == "day\n")
        #expect(outcome.messages.contains("prompt 12 tokens (3 cached), answer 7 tokens"))
    }

    @Test(arguments: [
        (
            LanguageModelError.contextSizeExceeded(.init(contextSize: 10, tokenCount: 20, debugDescription: "d")),
            ExitCode.contextOverflow
        ),
        (.guardrailViolation(.init(debugDescription: "d")), .guardrail),
        (.refusal(.init(explanation: "no", debugDescription: "d")), .guardrail),
        (.unsupportedGenerationGuide(.init(schemaName: "s", debugDescription: "d")), .schema),
        (.timeout(.init(debugDescription: "d")), .failure),
    ]) func everyClassHasItsCode(error: LanguageModelError, code: ExitCode) async {
        let outcome = await fixture.run(["respond", "hello"], [[.text("begin"), .fail(error)]])
        #expect(outcome.code == code)
        #expect(!outcome.messages.isEmpty)
        // What came before the failure is there, on a line of its own.
        #expect(outcome.output == "begin\n")
    }

    @Test func whatIsWrongIsFoundBeforeAModelIsLookedFor() async {
        for words in [
            ["respond", "--temperature", "9", "x"], ["respond", "--file", "/nonexistent"], ["respond", " "],
            ["respond", "--greedy", "--top-k", "3", "x"],
        ] {
            let outcome = await CommandFixture().run(words)
            #expect(outcome.code == .usage, "\(words)")
        }
        #expect(await CommandFixture().run(["respond", "--schema", "/etc/passwd", "x"]).code == .schema)
        fixture.folder.write([0xff, 0xfe, 0x00], "bytes")
        let outcome = await fixture.run(["respond", "--file", "\(fixture.folder.path)/bytes"])
        #expect(outcome.code == .usage && outcome.messages.contains("UTF-8"))
    }

    @Test func aMissingModelHasItsCode() async {
        let empty = CommandFixture()
        let unknown = await empty.run(["respond", "-m", "smollm2-136m", "--no-pull", "x"])
        #expect(unknown.code == .usage && unknown.messages.contains("'smollm2-135m'"))
        let absent = await empty.run(["respond", "-m", "smollm2-135m", "--no-pull", "x"])
        #expect(absent.code == .unavailable && absent.messages.contains("fm pull smollm2-135m"))
        // A path that leads nowhere is as wrong as a name that nobody has, wherever it stands.
        empty.folder.write(Array("{}".utf8), "bad.json")
        let bad = await empty.run(["respond", "-m", "\(empty.folder.path)/bad.json", "x"])
        #expect(bad.code == .unavailable && bad.messages.contains("bad.json' is not a GGUF file"), "\(bad)")
        let nowhere = await empty.run(["respond", "-m", "/nonexistent.gguf", "x"])
        #expect(nowhere.code == .usage && nowhere.messages.contains("there is no file '/nonexistent.gguf'"))
        for name in ["nosuch", "/no/such/path"] {
            var wrong = CommandFixture()
            wrong.variables = ["FM_MODEL": name]
            for command in [["respond", "--no-pull", "x"], ["available"], ["token-count", "x"]] {
                let outcome = await wrong.run(command)
                #expect(outcome.code == .usage && outcome.messages.contains("'\(name)'"), "\(command) \(name)")
                #expect(outcome.messages.contains("FM_MODEL is wrong: "), "\(outcome.messages)")
            }
            // Who has to choose another one can see which there are.
            let list = await wrong.run(["models"])
            #expect(list.code == .success && list.output.contains("smollm2-135m"))
            #expect(list.messages.hasPrefix("fm: FM_MODEL is wrong: "))
        }
        empty.folder.write(Array(#"{"enabled": false}"#.utf8), ".config/foundationmodels/config.json")
        let off = await empty.run(["respond", "x"])
        #expect(off.code == .unavailable && off.messages.contains("switched off"))
        let available = await empty.run(["available", "--json"])
        #expect(available.code == .unavailable && available.output.contains("appleIntelligenceNotEnabled"))
    }

    @Test func availabilityNamesTheModel() async {
        #expect(await fixture.run(["available"]).output == "available: sample\n")
        let outcome = await fixture.run(["available", "--json"])
        #expect(outcome.output == "{\"available\": true, \"reason\": null, \"model\": \"sample\"}\n")
    }
}
