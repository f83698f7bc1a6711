import FoundationModels
import Testing

@Suite struct TranscriptTests {
    private static func prompt(_ id: String) -> Transcript.Entry {
        .prompt(Transcript.Prompt(id: id, segments: [.text(Transcript.TextSegment(id: id, content: id))]))
    }

    private static let instructions = Transcript.Entry.instructions(
        Transcript.Instructions(id: "i", segments: [], toolDefinitions: []))

    @Test func isACollection() {
        var transcript = Transcript(entries: [Self.instructions, Self.prompt("a"), Self.prompt("b")])
        #expect(transcript.count == 3)
        transcript[1] = Self.prompt("c")
        transcript.append(Self.prompt("d"))
        transcript.removeAll { $0.id == "b" }
        #expect(transcript.map(\.id) == ["i", "c", "d"])
        transcript.replaceSubrange(0..<1, with: [Self.prompt("x"), Self.prompt("y")])
        #expect(transcript.map(\.id) == ["x", "y", "c", "d"])
    }

    @Test func historyIsAllButTheLeadingInstructions() {
        var transcript = Transcript(entries: [Self.instructions] + "abcd".map { Self.prompt(String($0)) })
        #expect(transcript.history.map(\.id) == ["a", "b", "c", "d"])
        transcript.history = transcript.history.suffix(2)
        #expect(transcript.map(\.id) == ["i", "c", "d"])
        transcript.history.append(Self.prompt("e"))
        transcript.history.removeFirst()
        #expect(transcript.map(\.id) == ["i", "d", "e"])
        transcript.history = []
        #expect(transcript.map(\.id) == ["i"])
        var plain = Transcript(entries: [Self.prompt("a"), Self.instructions])
        #expect(plain.history.map(\.id) == ["a", "i"])
        plain.history = [Self.prompt("z")]
        #expect(plain.map(\.id) == ["z"])
    }

    @Test func historiesCanBeCutAndJoined() throws {
        let transcript = Transcript(entries: [Self.instructions] + "abcde".map { Self.prompt(String($0)) })
        var history = transcript.history
        let index = try #require(history.lastIndex { $0.id == "c" })
        let joined = history.prefix(upTo: index).filter { $0.id != "a" } + history.suffix(from: index)
        #expect(joined.map(\.id) == ["b", "c", "d", "e"])
        history[history.startIndex] = Self.prompt("A")
        history.replaceSubrange(history.index(after: history.startIndex)..<index, with: [])
        history[index...] = [Self.prompt("last")]
        #expect(history.map(\.id).first == "A")
        #expect(history.last?.id == "last")
        #expect(Array(history.reversed()).count == history.count)
    }
}
