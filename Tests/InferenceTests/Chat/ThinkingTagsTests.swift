import Inference
import Testing

@Suite struct ThinkingTagsTests {
    private static func read(
        _ pieces: [String], startsInside: Bool = false
    ) -> (thought: String, answer: String) {
        var tags = ThinkingTags(startsInside: startsInside)
        var (thought, answer) = ("", "")
        for part in pieces.flatMap({ tags.append($0) }) + tags.finish() {
            switch part {
            case .thought(let text):
                #expect(answer.isEmpty, "a thought after the answer")
                #expect(!text.isEmpty)
                thought += text
            case .answer(let text): answer += text
            }
        }
        return (thought, answer)
    }

    /// The text in pieces of a number of code points.
    private static func pieces(_ text: String, of size: Int) -> [String] {
        let scalars = Array(text.unicodeScalars)
        return stride(from: 0, to: scalars.count, by: size).map { start in
            var piece = String.UnicodeScalarView()
            piece.append(contentsOf: scalars[start..<min(start + size, scalars.count)])
            return String(piece)
        }
    }

    static let texts = [
        ("<think>\nHm, 2.\n</think>\n\nTwo.", "Hm, 2.", "Two."),
        ("<think>\n\n</think>\n\nTwo.", "", "Two."),
        ("  <think>a</think>b", "a", "b"),
        ("Two.", "", "Two."),
        (" Two <think>no</think>", "", " Two <think>no</think>"),
        ("<thinker> a", "", "<thinker> a"),
        ("<th", "", "<th"),
        ("<think>never closed </thin", "never closed </thin", ""),
        ("<think>never closed \n", "never closed", ""),
        ("<think>", "", ""),
        ("<think>a < b </ think></think>x</think>", "a < b </ think>", "x</think>"),
        ("<think>a</think>One may write <think>b</think>.\n", "a", "One may write <think>b</think>.\n"),
        ("<think>a <think> b</think></think>", "a <think> b", "</think>"),
        ("<think></</thi</think>", "</</thi", ""),
        ("<think>🐙</think>🐙", "🐙", "🐙"),
        // The tag ends where it ends, whatever the next character combines with.
        ("<think>e\u{301}</think>\u{301}x", "e\u{301}", "\u{301}x"),
        ("<think>a</think>\u{2003}x", "a", "\u{2003}x"),
        ("", "", ""),
    ]

    @Test("thoughts are told from the answer, wherever pieces end", arguments: texts)
    func tellsThoughtsFromTheAnswer(text: String, thought: String, answer: String) {
        for size in 1...max(1, text.unicodeScalars.count) {
            let read = Self.read(Self.pieces(text, of: size))
            #expect(Array(read.thought.utf8) == Array(thought.utf8), "in pieces of \(size)")
            #expect(Array(read.answer.utf8) == Array(answer.utf8), "in pieces of \(size)")
        }
        // In two pieces, cut at every place.
        let scalars = Array(text.unicodeScalars)
        for place in scalars.indices {
            let head = String(String.UnicodeScalarView(scalars[..<place]))
            let tail = String(String.UnicodeScalarView(scalars[place...]))
            #expect(Self.read([head, tail]) == (thought, answer), "cut at \(place)")
        }
    }

    @Test func aThoughtMayHaveBegunInThePrompt() {
        for size in 1...20 {
            #expect(
                Self.read(Self.pieces("\nHm.\n</think>\nTwo.", of: size), startsInside: true) == ("Hm.", "Two."))
        }
    }

    @Test func certainTextIsNotHeldBack() {
        var tags = ThinkingTags()
        #expect(tags.append("<think>a") == [.thought("a")])
        #expect(tags.append("b</") == [.thought("b")])
        #expect(!tags.isClosed)
        #expect(tags.append("think>") == [])
        #expect(tags.isClosed)
        #expect(tags.append("\nc") == [.answer("c")])
        #expect(tags.append(" d") == [.answer(" d")])
    }
}
