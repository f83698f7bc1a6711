import Inference
import Testing

@Suite struct ThoughtReaderTests {
    typealias Piece = ThoughtReader.Piece

    @Test func theTagEndsThem() {
        var reader = ThoughtReader(budget: 100, answerLimit: nil)
        #expect(reader.append("\nOne ", tokenCount: 2) == [Piece(text: "One", tokenCount: 2)])
        #expect(reader.append("two</thi", tokenCount: 2) == [Piece(text: " two", tokenCount: 2)])
        #expect(!reader.isComplete)
        #expect(reader.append("nk>\n\nThe answer", tokenCount: 3) == [])
        #expect(reader.isComplete)
        #expect(reader.finish(tokenCount: nil) == [])
        #expect(reader.text == "One two")
        // Tokens of the tag were generated too.
        #expect(reader.tokenCount == 7)
    }

    @Test func theBudgetEndsThem() {
        var reader = ThoughtReader(budget: 3, answerLimit: nil)
        _ = reader.append("one ", tokenCount: 1)
        _ = reader.append("two ", tokenCount: 1)
        #expect(!reader.isComplete)
        // What may be the beginning of the tag is text when nothing follows.
        _ = reader.append("</th", tokenCount: 1)
        #expect(reader.isComplete)
        #expect(reader.finish(tokenCount: nil) == [Piece(text: " </th", tokenCount: 1)])
        #expect(reader.text == "one two </th")
    }

    @Test func theEnginesOwnCountGoesBeforeTheSum() {
        var reader = ThoughtReader(budget: 100, answerLimit: nil)
        _ = reader.append("one", tokenCount: 1)
        _ = reader.finish(tokenCount: 5)
        #expect(reader.tokenCount == 5)
    }

    @Test(
        "thoughts take no more than half of what there is",
        arguments: [
            (budget: 100, limit: nil, prompt: 10, context: 1000, expected: 100),
            (100, 50, 10, 1000, 25), (100, 1, 10, 1000, 1), (100, nil, 10, 110, 50), (100, 60, 10, 30, 10),
            (100, nil, 99, 100, 1),
        ] as [(budget: Int, limit: Int?, prompt: Int, context: Int, expected: Int)])
    func budgets(budget: Int, limit: Int?, prompt: Int, context: Int, expected: Int) {
        var reader = ThoughtReader(budget: budget, answerLimit: limit)
        reader.promptProcessed(tokenCount: prompt, contextSize: context)
        #expect(reader.budget == expected)
    }

    @Test func somethingIsLeftForTheAnswer() {
        #expect(ThoughtReader.remainder(of: nil, after: 10) == nil)
        #expect(ThoughtReader.remainder(of: 20, after: 10) == 10)
        #expect(ThoughtReader.remainder(of: 1, after: 1) == 1)
    }
}
