import Foundation
import FoundationModels
import RegexBuilder
import Testing

@Suite("Regular expressions as text")
struct RegexPatternTests {
    private func pattern<Output>(_ regex: Regex<Output>) -> String {
        switch GuideConstraint(regex) {
        case .pattern(let text): text
        case .unsupported(_, let reason): "unsupported: \(reason)"
        default: "?"
        }
    }

    @Test("Literals and strings say what they say")
    func literals() throws {
        #expect(pattern(/[A-Z]{3}-\d{4}/) == #"[A-Z]{3}\-\d{4}"#)
        #expect(pattern(/p|q\w*?/) == #"p|q\w*?"#)
        #expect(pattern(#/https:\/\/x\/[a-z]+/#) == "https://x/[a-z]+")
        #expect(pattern(/(\w+)@(?<host>\w+)\.com/) == #"(\w+)@(?<host>\w+)\.com"#)
        #expect(pattern(try Regex("(?:ab){2}|c")) == "(?:ab){2}|c")
        #expect(pattern(/\p{Script=Greek}/).hasPrefix("unsupported: "))
    }

    /// What the text says is what the expression matches: both are tried on every short string over an alphabet.
    @Test("Builders say what they match")
    func builders() throws {
        try expectSame(
            Regex {
                ChoiceOf {
                    "a"; "b"
                }; ZeroOrMore(.digit)
            }, alphabet: "ab1")
        try expectSame(
            Regex {
                "a";
                ChoiceOf {
                    "b"; /c|a/
                }; "b"
            }, alphabet: "abc")
        try expectSame(
            Regex {
                /a|b/; "c"
            }, alphabet: "abc")
        try expectSame(
            Regex {
                ZeroOrMore {
                    ChoiceOf {
                        "a"; "bc"
                    }
                }
            }, alphabet: "abc")
        try expectSame(Regex { Capture { OneOrMore { OneOrMore("a") } } }, alphabet: "ab")
        try expectSame(
            Regex {
                Optionally { OneOrMore("ab") }; "c"
            }, alphabet: "abc")
        try expectSame(
            Regex {
                Repeat(2...3) { "ab" }; Repeat(count: 2) { "c" }
            }, alphabet: "abc", length: 8)
        try expectSame(
            Regex {
                Repeat(2...) { "a" }; Repeat(...2) { "b" }
            }, alphabet: "ab")
        try expectSame(
            Regex {
                "a.b*"; One(.anyOf("]^-"))
            }, alphabet: "ab.*]^-")
        try expectSame(Regex { OneOrMore(CharacterClass("a"..."b").subtracting(.anyOf("b"))) }, alphabet: "abc")
        try expectSame(Regex { OneOrMore(CharacterClass.anyOf("ab").union(.digit).inverted) }, alphabet: "ab1c-")
        try expectSame(Regex { OneOrMore(CharacterClass.word.intersection("a"..."z")) }, alphabet: "a_1-")
        try expectSame(
            Regex {
                OneOrMore("a", .reluctant); "b"
            }, alphabet: "ab")
        try expectSame(
            Regex {
                One(.any); One(.anyNonNewline)
            }, alphabet: "a\n.")
        try expectSame(
            Regex {
                "a\\E"; One(.whitespace)
            }, alphabet: #"a\E "#)
        try expectSame(
            Regex {
                One(.hexDigit); CharacterClass.generalCategory(.uppercaseLetter)
            }, alphabet: "aAfGg1")
        try expectSame(
            Regex {
                Regex {
                    "a"; "b"
                }.ignoresCase(); "c"
            }, alphabet: "aAbBcC")
        try expectSame(
            Regex {
                Anchor.startOfSubject; "a"; Anchor.endOfSubject
            }, alphabet: "ab")
        try expectSame(
            Regex {
                ChoiceOf {
                    "é"; "日"
                }; "\t"
            }, alphabet: "é日\te")
        try expectSame(
            Regex {
                ChoiceOf {
                    "only";
                    Regex {
                        "t"; "o"
                    }
                }
            }, alphabet: "only t".filter { $0 != " " }, length: 4)
        try expectSame(Regex { TryCapturePlain() }, alphabet: "ab")
    }

    /// A component of its own that is made of others.
    private struct TryCapturePlain: RegexComponent {
        var regex: Regex<Substring> {
            Regex {
                ChoiceOf {
                    "a"; "b"
                }
            }
        }
    }

    private func expectSame<Output>(
        _ regex: Regex<Output>, alphabet: String, length: Int = 5, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let text = pattern(regex)
        let read = try Regex(text)
        var strings = [""]
        var matches = 0
        for _ in 0...length {
            for string in strings {
                let expected = string.wholeMatch(of: regex) != nil
                matches += expected ? 1 : 0
                #expect(
                    (string.wholeMatch(of: read) != nil) == expected, "\(string.debugDescription) and \(text)",
                    sourceLocation: sourceLocation)
            }
            strings = strings.flatMap { string in alphabet.map { string + String($0) } }
            if strings.count > 20_000 { break }
        }
        #expect(matches > 0, "nothing tried matches \(text)", sourceLocation: sourceLocation)
    }

    @Test("What cannot be told is refused by its name")
    func unsupported() {
        #expect(
            pattern(
                Regex {
                    "a"; Lookahead { "x" }
                }) == "unsupported: the regular expression is not supported: look-around cannot be enforced")
        #expect(pattern(Regex { OneOrMore("y", .possessive) }).contains("a possessive repetition"))
        #expect(pattern(Regex { Local { "x" } }).contains("atomicNonCapturing"))
        #expect(
            pattern(
                Regex {
                    Anchor.wordBoundary; "x"
                }
            ).contains("wordBoundary"))
        let reference = Reference(Substring.self)
        #expect(
            pattern(
                Regex {
                    Capture(as: reference) { "a" }; reference
                }
            ).contains("back-reference"))
        #expect(
            pattern(
                Regex {
                    Capture {
                        "1"
                    } transform: {
                        Int($0)
                    }
                }
            ).contains("code"))
    }
}
