import JSON
import TestSupport
import Testing
import Tokenizers

struct PreTokenizerTests {
    private static let names = Fixture.file["words"]?.objectValue?.map(\.key) ?? []

    private func wordLengths(_ text: String, _ preTokenizer: PreTokenizer) -> [Int] {
        var text = text
        return text.withUTF8 { bytes in
            var lengths: [Int] = []
            preTokenizer.split(bytes, 0..<bytes.count) { lengths.append($0.count) }
            return lengths
        }
    }

    @Test(arguments: names)
    func `words are those of Hugging Face's tokenizers`(name: String) throws {
        let preTokenizer = try PreTokenizer(named: name)
        let expected = Fixture.file["words"]?[name]?.arrayValue ?? []
        #expect(expected.count == Fixture.texts.count)
        for (text, words) in zip(Fixture.texts, expected) {
            #expect(wordLengths(text, preTokenizer) == Fixture.numbers(words), "\(text.debugDescription)")
        }
    }

    @Test(arguments: PreTokenizer.rules.indices)
    func `every rule cuts every text without gaps`(index: Int) {
        let preTokenizer = PreTokenizer(PreTokenizer.rules[index])
        for text in Fixture.texts {
            let lengths = wordLengths(text, preTokenizer)
            #expect(lengths.reduce(0, +) == text.utf8.count)
            #expect(!lengths.contains(0))
        }
    }

    @Test
    func `no name stands in two rules`() {
        let names = PreTokenizer.rules.flatMap(\.names)
        #expect(Set(names).count == names.count)
    }

    @Test(arguments: PreTokenizer.rules.indices)
    func `cutting takes time in proportion to the text`(index: Int) {
        let preTokenizer = PreTokenizer(PreTokenizer.rules[index])
        for unit in [" ", "\n", "a", "A", "9", "!", " \t", "é", "\u{301}", "世", "a'", "\n "] {
            let growth = growth(of: 5_000) { size in
                _ = wordLengths(String(repeating: unit, count: size) + "x", preTokenizer)
            }
            #expect(growth < 64, "\(unit.debugDescription)")
        }
    }
}
