import Inference
import Testing
import Tokenizers

@Suite("PromptLookup")
struct PromptLookupTests {
    private func lookup(_ prompt: [TokenID], then text: [TokenID]) -> PromptLookup {
        var lookup = PromptLookup(prompt)
        for token in text { lookup.append(token) }
        return lookup
    }

    @Test("guesses what followed the end of the text earlier")
    func continuation() {
        var found = lookup([1, 2, 3, 4, 5, 6, 7, 8, 9], then: [3, 4, 5])
        let guess = found.guess(most: 3)
        #expect(guess.tokens == [6, 7, 8] && guess.matched == 3)
    }

    @Test("prefers the longest match, and then the latest")
    func longest() {
        var found = lookup([9, 1, 2, 3, 50, 7, 7, 1, 2, 3, 60, 5, 5, 1, 2, 3, 70, 0], then: [7, 1, 2, 3])
        #expect(found.guess(most: 1).tokens == [60])
        var even = lookup([1, 2, 3, 50, 0, 1, 2, 3, 60, 0], then: [8, 1, 2, 3])
        #expect(even.guess(most: 1).tokens == [60])
    }

    @Test("guesses nothing from two equal tokens, from nothing and beyond what it may")
    func nothing() {
        var short = lookup([1, 2, 3, 4, 5], then: [9, 2, 3])
        #expect(short.guess(most: 4).tokens == [])
        var empty = PromptLookup([])
        #expect(empty.guess(most: 4).tokens == [])
        var fine = lookup([1, 2, 3, 4, 5], then: [1, 2, 3])
        #expect(fine.guess(most: 0).tokens == [])
    }

    @Test(
        "goes on with its source after a token was changed, put in or left out",
        arguments: [
            // The text so far, what comes next in the source.
            ([10, 11, 12, 99, 14, 15], [16, 17]), ([10, 11, 12, 99, 13, 14], [15, 16]),
            ([10, 11, 12, 14, 15], [16, 17]), ([10, 11, 12, 98, 99, 15], [16, 17]),
        ] as [([TokenID], [TokenID])])
    func resynchronizes(text: [TokenID], next: [TokenID]) {
        var found = PromptLookup(Array(10..<30))
        // A guess makes the place known.
        for (index, token) in text.enumerated() {
            found.append(token)
            if index == 2 { #expect(found.guess(most: 2).tokens == [13, 14]) }
        }
        #expect(found.guess(most: 2).tokens == next)
    }

    @Test("follows its own text too")
    func repetition() {
        var found = lookup([1], then: [5, 6, 7, 5, 6, 7, 5, 6, 7])
        #expect(found.guess(most: 6).tokens == [5, 6, 7])
    }
}

@Suite("DraftPolicy")
struct DraftPolicyTests {
    /// Steps of a machine on which each further row costs `slope` times the first.
    private func costs(_ slope: Double) -> StepCosts {
        var costs = StepCosts()
        for _ in 0..<20 {
            for rows in 1...17 { costs.note(rows: rows, seconds: 0.05 * (1 + slope * Double(rows - 1))) }
        }
        return costs
    }

    @Test("drafts as long as it pays")
    func pays() {
        var policy = DraftPolicy()
        for _ in 0..<20 { policy.note(matched: 10, right: 8, wasWrong: false) }
        #expect(policy.count(matched: 10, available: 16, rows: 1, others: 0, costs(0.1)) >= 12)
        #expect(policy.count(matched: 10, available: 5, rows: 1, others: 0, costs(0.1)) == 5)
        // Where each row costs what a step of its own costs, nothing is gained.
        #expect(policy.count(matched: 10, available: 16, rows: 1, others: 0, costs(1)) == 0)
    }

    @Test("stops where guesses are wrong, and begins again when they come true")
    func adapts() {
        var policy = DraftPolicy()
        let costs = costs(0.2)
        for _ in 0..<20 { policy.note(matched: 5, right: 0, wasWrong: true) }
        #expect(policy.count(matched: 5, available: 16, rows: 1, others: 0, costs) == 0)
        // Guesses of other lengths are judged for themselves.
        #expect(policy.count(matched: 20, available: 16, rows: 1, others: 0, costs) > 0)
        for _ in 0..<30 { policy.note(matched: 5, right: 1, wasWrong: false) }
        #expect(policy.count(matched: 5, available: 16, rows: 1, others: 0, costs) > 0)
    }

    @Test("estimates steps that were not measured from those that were")
    func estimates() {
        var costs = StepCosts()
        #expect(costs.seconds(rows: 1) < costs.seconds(rows: 8))
        costs.note(rows: 1, seconds: 2)
        #expect(costs.seconds(rows: 1) == 2)
        #expect(costs.seconds(rows: 9) > 2 && costs.seconds(rows: 9) < 18)
        // What is no time is not taken.
        costs.note(rows: 1, seconds: .nan)
        costs.note(rows: 0, seconds: 1)
        #expect(costs.seconds(rows: 1) == 2)
    }
}
