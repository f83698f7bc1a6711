import Testing
import fm

@Suite struct TerminalTextTests {
    @Test(arguments: [
        ("plain, é, 👩‍🚀, 漢字\n\tindented", "plain, é, 👩‍🚀, 漢字\n\tindented"),
        ("a\u{1b}[31mred", "a\\u{1b}[31mred"), ("\u{0}\u{7}\r\u{8}\u{7f}", "\\u{0}\\u{7}\\u{d}\\u{8}\\u{7f}"),
        ("\u{9b}31m\u{85}", "\\u{9b}31m\\u{85}"), ("a\u{202e}b\u{2066}", "a\\u{202e}b\\u{2066}"), ("\r\n", "\\u{d}\n"),
        ("", ""),
    ]) func nothingIsLeftThatATerminalObeys(text: String, shown: String) {
        #expect(TerminalText.printable(text) == shown)
    }

    @Test func longTextsLoseTheirMiddle() {
        let short = String(repeating: "é", count: 2_000)
        #expect(TerminalText.printable(short) == short)
        let long = "begin" + String(repeating: "x", count: 10_000_000) + "end"
        let shown = TerminalText.printable(long)
        #expect(shown.unicodeScalars.count == 2_003)
        #expect(shown.hasPrefix("beginx") && shown.hasSuffix("xend") && shown.contains("x … x"))
        // One character of many code points is long, too.
        let tower = "a" + String(repeating: "\u{301}", count: 1_000_000)
        #expect(TerminalText.printable(tower).unicodeScalars.count == 2_003)
    }
}
