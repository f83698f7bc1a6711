import Foundation
import GuidedGeneration
import JSON

/// What became of one schema of a suite.
struct SchemaOutcome {
    enum Verdict: Equatable {
        /// Every instance was judged rightly.
        case clean
        /// The schema was refused, with the keyword.
        case refused(keyword: String, error: String)
        /// An instance was judged wrongly: the first one.
        case wrong(accepted: Bool, text: String)
        /// The mask and the matcher did not agree.
        case inconsistent(text: String)
    }

    var name: String
    var verdict: Verdict
    /// Nanoseconds to compile, if that ended well, and for each mask, written out as a bit set.
    var compileTime: Double
    var maskTimes: [Double] = []

    var json: JSONValue {
        var object: JSONObject = [
            "name": .string(name), "compile": number(compileTime), "masks": .array(maskTimes.map(number)),
        ]
        switch verdict {
        case .clean: object["outcome"] = "clean"
        case .refused(let keyword, let error):
            object["outcome"] = .string("refused: \(keyword)")
            object["detail"] = .string(error)
        case .wrong(let accepted, let text):
            object["outcome"] = .string(accepted ? "wrongly accepted" : "wrongly rejected")
            object["detail"] = .string(text)
        case .inconsistent(let text):
            object["outcome"] = "inconsistent"
            object["detail"] = .string(text)
        }
        return .object(object)
    }

    private func number(_ value: Double) -> JSONValue { JSONNumber(value.rounded()).map(JSONValue.number) ?? .null }
}

/// Nanoseconds of work of this thread, so that what else the machine does is not counted.
private func threadTime() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

/// Judges schemas by their instances, token by token over a vocabulary.
struct SchemaJudge {
    let trie: TokenTrie
    let tokenize: (String) -> [Int32]
    var options = SchemaOptions()
    /// Where masks are written, as an engine that is not ours would have them.
    private let words: UnsafeMutableBufferPointer<UInt64>

    init(trie: TokenTrie, tokenize: @escaping (String) -> [Int32]) {
        self.trie = trie
        self.tokenize = tokenize
        words = .allocate(capacity: (trie.vocabularySize + 63) / 64)
        words.initialize(repeating: 0)
    }

    func judge(name: String, schema: JSONValue, tests: [(data: JSONValue, isValid: Bool)]) -> SchemaOutcome {
        let start = threadTime()
        let grammar: Grammar
        let first: Matcher
        do {
            grammar = try Grammar.jsonSchema(schema, options: options)
            first = Matcher(grammar, trie: trie)
        } catch {
            return SchemaOutcome(
                name: name, verdict: .refused(keyword: error.keyword, error: error.description), compileTime: 0)
        }
        let compileTime = Double(threadTime() - start)
        var outcome = SchemaOutcome(name: name, verdict: .clean, compileTime: compileTime)
        for (data, isValid) in tests {
            let text = grammar.canonical(data).text(spaced: options.isSpaced)
            let isAccepted = walk(tokenize(text), from: first, &outcome.maskTimes)
            guard outcome.verdict == .clean, isAccepted != isValid else { continue }
            outcome.verdict = isAccepted.map { .wrong(accepted: $0, text: text) } ?? .inconsistent(text: text)
        }
        return outcome
    }

    /// The text of an instance as the grammar has it written; as it stands where there is no grammar.
    func text(of data: JSONValue, _ schema: JSONValue) -> String {
        let grammar = try? Grammar.jsonSchema(schema, options: options)
        return (grammar?.canonical(data) ?? data).text(spaced: options.isSpaced)
    }

    /// Whether every token is allowed when it comes and the end is an end; nil when the mask and the matcher do not agree.
    private func walk(_ tokens: [Int32], from start: Matcher, _ times: inout [Double]) -> Bool? {
        var matcher = start
        func mask() -> TokenMask {
            let start = threadTime()
            let mask = matcher.mask()
            mask.write(to: words)
            times.append(Double(threadTime() - start))
            return mask
        }
        for token in tokens {
            let isAllowed = mask().contains(token)
            guard matcher.accept(token) == isAllowed else { return nil }
            guard isAllowed else { return false }
        }
        let isAccepted = matcher.isAccepting
        if let stop = trie.stopTokens.first, mask().contains(stop) != isAccepted { return nil }
        return isAccepted
    }
}
