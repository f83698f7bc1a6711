import Inference
import Testing

@Suite("Stop strings")
struct StopStringFilterTests {
    /// The text that comes through and the stop string that ends it.
    private func run(_ stops: [String], _ parts: [String]) -> (text: String, stop: String?, releases: [String]) {
        var filter = StopStringFilter(stops)
        var releases: [String] = []
        for part in parts {
            let (text, stop) = filter.append(part)
            releases.append(text)
            if let stop { return (releases.joined(), stop, releases) }
        }
        return (releases.joined() + filter.finish(), nil, releases)
    }

    @Test(
        "the first stop string ends the text, wherever it is cut",
        arguments: [
            (["END"], "one END two", "one ", "END"), (["END"], "ENEND", "EN", "END"), (["aab"], "aaab", "a", "aab"),
            (["b", "abc"], "xabc", "x", "abc"), (["ab", "abc"], "xabc", "x", "abc"),
            (["ü!"], "süß fü! ", "süß f", "ü!"),
            (["END"], "EN", "EN", nil), (["END", ""], "text", "text", nil), ([], "text", "text", nil),
        ] as [([String], String, String, String?)])
    func stops(stops: [String], text: String, expected: String, stop: String?) {
        let whole = run(stops, [text])
        #expect(whole.text == expected && whole.stop == stop)
        let single = run(stops, text.map { String($0) })
        #expect(single.text == expected)
        // Of two at one place, the shorter one is complete first.
        #expect((single.stop == nil) == (stop == nil))
    }

    @Test("only what may become a stop string is held back")
    func holdsLittle() {
        #expect(run(["END"], ["a", "E", "N", "x"]).releases == ["a", "", "", "ENx"])
        #expect(run(["\n\n"], ["line\n", "next"]).releases == ["line", "\nnext"])
    }
}
