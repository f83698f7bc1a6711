import Foundation
import Inference
import TestSupport
import Testing
import fm

@Suite struct TraceCommandTests {
    let fixture = CommandFixture()

    @Test func summaryTellsTokensSpansAndNotes() async throws {
        let path = "\(fixture.folder.path)/trace.json"
        let trace = try #require(Trace(file: URL(fileURLWithPath: path)))
        let start = trace.now
        trace.span("load", .load, from: start, to: start + 2_000_000_000, [("model", .init("sample"))])
        let track = trace.track("request")
        trace.span(
            "prefill", .prefill, from: start, to: start + 500_000_000, on: track,
            [("prompt", .init(100)), ("cached", .init(50))])
        trace.span("decode", .decode, from: start, to: start + 1_000_000_000, on: track, [("generated", .init(20))])
        trace.span(
            "request", .request, from: start, to: start + 3_000_000_000, on: track,
            [
                ("prompt", .init(100)), ("cached", .init(50)), ("generated", .init(20)), ("forced", .init(4)),
                ("end", .init("end of text")),
            ])
        trace.note("Something is slow.", .session)
        trace.flush()

        let outcome = await fixture.run(["trace", path])
        #expect(outcome.code == .success)
        for line in [
            "model     sample", "time      3.00 s", "requests  1", "prompts   100 tokens, 50 cached (50.0 %)",
            "prefill   50 tokens in 0.50 s, 100.0 tokens/s", "decode    20 tokens in 1.00 s, 20.0 tokens/s",
            "forced    4 tokens by constraints, without choice", "ended     1 × end of text", "Something is slow.",
        ] {
            #expect(outcome.output.contains(line), "\(line) in \(outcome.output)")
        }
        #expect(outcome.output.contains(/load: load +1  2.00 s   2.00 s\n/), "\(outcome.output)")
    }

    @Test func filesThatAreNoTracesAreNamed() async {
        fixture.folder.write(Array("{}".utf8), "other.json")
        for (name, reason) in [("other.json", "no trace"), ("missing.json", "cannot be read")] {
            let outcome = await fixture.run(["trace", "\(fixture.folder.path)/\(name)"])
            #expect(outcome.code == .failure)
            #expect(outcome.messages.contains(name) && outcome.messages.contains(reason), "\(outcome.messages)")
        }
        #expect(await fixture.run(["trace"]).code == .usage)
    }

    @Test func tablesAlign() {
        let table = TextTable(["a", "bb"], [["long", "1"], ["x", "100"]])
        #expect(table.lines == ["a      bb", "long    1", "x     100"])
        #expect(table.markdown == ["| a    |  bb |", "| ---- | --: |", "| long |   1 |", "| x    | 100 |"])
    }
}

@Suite struct BenchCommandTests {
    let fixture = CommandFixture()

    @Test(arguments: [
        (["--prompt", "x"], "--prompt"), (["-p", "-1"], "--prompt"), (["--threads", "0"], "--threads"),
        (["--repeat", "0"], "--repeat"), (["-p", "0", "-n", "0"], "nothing to measure"), (["-d", "1e3"], "--depth"),
    ])
    func wrongNumbersAreNamed(words: [String], reason: String) async {
        fixture.installModel()
        let outcome = await fixture.run(["bench"] + words)
        #expect(outcome.code == .usage)
        #expect(outcome.messages.contains(reason), "\(outcome.messages)")
    }

    @Test func aFileThatIsNoModelIsAnError() async {
        fixture.installModel()
        let outcome = await fixture.run(["bench", "-p", "16", "-n", "2", "-r", "1"])
        #expect(outcome.code == .failure)
    }
}
