import Foundation
import GuidedGeneration
import Inference
import JSON
import TestSupport
import Testing
import Tokenizers

@Suite("Trace")
struct TraceTests {
    let folder: TemporaryFolder
    let trace: Trace

    init() throws {
        folder = try TemporaryFolder()
        trace = try #require(Trace(file: folder.file("trace.json")))
        try TinyModel.write(to: folder.file())
    }

    private func engine() throws -> Engine {
        try Engine.load(folder.file(), options: EngineOptions(threadCount: 1, prefillBatch: 32), trace: trace)
    }

    private func summary() throws -> TraceSummary {
        trace.flush()
        return try TraceSummary(file: folder.file("trace.json"))
    }

    @Test("tells the tokens, the cached share and the times of what an engine did")
    func requests() async throws {
        let engine = try engine()
        let prompt = (0..<100).map { TokenID($0 % 200) }
        let first = try await collect(engine.generate(GenerationRequest(prompt: prompt, maximumTokens: 7)))
        _ = try await collect(engine.generate(GenerationRequest(prompt: prompt + [1, 2], maximumTokens: 5)))
        let matcher = Matcher(try Grammar.choice(["yes", "no"]), trie: engine.tokenTrie)
        let guided = try await collect(
            engine.generate(GenerationRequest(prompt: prompt, maximumTokens: 9, matcher: matcher)))

        let summary = try summary()
        #expect(summary.model == "tiny")
        #expect(summary.requests.map(\.prompt) == [100, 102, 100])
        #expect(summary.requests.map(\.cached) == [0, 100, 99])
        #expect(summary.requests.map(\.generated) == [7, 5, try #require(guided.usage).generatedTokens])
        #expect(summary.requests.map(\.end) == ["maximum of tokens", "maximum of tokens", "constraint satisfied"])
        #expect(first.usage?.generatedTokens == 7)
        #expect(summary.prefill.tokens == 100 + 2 + 1)
        #expect(summary.prefill.seconds > 0 && summary.decode.seconds > 0)
        let names = Set(summary.spans.map { "\($0.category)/\($0.name)" })
        #expect(
            names.isSuperset(of: [
                "load/load", "request/request", "prefill/prefill", "prefill/prefill step", "decode/decode",
                "decode/decode step", "mask/mask", "cache/cache",
            ]))
        #expect(summary.requests.allSatisfy { $0.seconds <= summary.seconds })
    }

    @Test("is valid JSON after each write, and events are what the format says")
    func format() throws {
        let file = folder.file("trace.json")
        for number in 0..<3 {
            trace.note("note \"\(number)\"\n\u{1}", .session)
            let events = try #require(try JSONValue(parsing: Array(Data(contentsOf: file))).arrayValue)
            let notes = events.filter { $0["ph"] == "i" }
            #expect(notes.count == number + 1)
            #expect(notes.last?["args"]?["text"]?.stringValue == "note \"\(number)\"\n\u{1}")
        }
        let start = trace.now
        trace.span("a", .tool, from: start, [("n", .init(3)), ("x", .init(Double.nan)), ("t", .init("é"))])
        trace.flush()
        let event = try #require(try JSONValue(parsing: Array(Data(contentsOf: file))).arrayValue?.last)
        #expect(event["ph"] == "X" && event["cat"] == "tool" && event["tid"] == 0)
        #expect(event["args"] == ["n": 3, "x": nil, "t": "é"])
        #expect((event["dur"]?.numberValue?.doubleValue ?? -1) >= 0)
    }

    @Test("notes a prompt that is an earlier one but for its beginning, and only that")
    func changedBeginning() async throws {
        let engine = try engine()
        let rest = (0..<200).map { TokenID($0 * $0 % 241) }
        func ask(_ prompt: [TokenID]) async throws {
            _ = try await collect(engine.generate(GenerationRequest(prompt: prompt, maximumTokens: 1)))
        }
        try await ask([1, 2, 3] + rest)
        try await ask([1, 2, 3] + rest + [5, 6, 7])
        try await ask((0..<150).map { TokenID($0 * 3 % 250) })
        #expect(try summary().notes == [])
        try await ask([1, 4, 3, 9] + rest)
        let notes = try summary().notes
        #expect(notes.count == 1 && notes[0].text.contains("after 1 tokens"))
    }

    @Test("notes a guided answer that is cut off")
    func cutOff() async throws {
        let engine = try engine()
        let matcher = Matcher(try Grammar.choice(["the name in there"]), trie: engine.tokenTrie)
        _ = try await collect(engine.generate(GenerationRequest(prompt: [1, 2], maximumTokens: 2, matcher: matcher)))
        #expect(try summary().notes.contains { $0.text.contains("cut off") })
    }

    @Test(
        "files that are no traces are errors that say so",
        arguments: [
            ("{}", "no array"), ("[1]", "no name"), ("[{\"ph\": \"X\", \"name\": \"a\"}]", "no category"),
            ("[{", "no JSON"), ("", "no JSON"),
        ])
    func wrongFiles(text: String, reason: String) throws {
        let file = folder.file("wrong.json")
        try Data(text.utf8).write(to: file)
        let fault = #expect(throws: TraceSummary.Fault.self) { try TraceSummary(file: file) }
        #expect(fault?.description.contains(reason) == true)
    }

    @Test("numbers of any size are read")
    func hugeNumbers() throws {
        let file = folder.file("huge.json")
        let text = """
            [{"ph": "X", "cat": "request", "name": "prefill", "ts": 1e300, "dur": 1e300, "args": {"prompt": 1e300}},
             {"ph": "X", "cat": "request", "name": "decode", "ts": 1e999, "dur": -5, "args": {"generated": -1e300}}]
            """
        try Data(text.utf8).write(to: file)
        #expect(throws: TraceSummary.Fault.self) { try TraceSummary(file: file) }
    }

    @Test("a file that cannot be written is no trace")
    func unwritable() { #expect(Trace(file: folder.file("no/such/folder/trace.json")) == nil) }
}
