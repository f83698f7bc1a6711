/// How a measurement is called, as its usage text says it: operands in capitals, `[…]` around what may be left out, `…` behind
/// what may come again, `--name VALUE` for options and `--name` for flags. A value or operand that is called N is a whole
/// number, `N,…` several with commas between, `one|other` is one of these.
///
/// Command lines are checked against it before anything is measured: what a measurement does not know would otherwise be
/// without effect, and the number it prints one that nobody has asked for.
struct Usage {
    private struct Operand {
        var name: String
        var isOptional: Bool
        var isRepeated: Bool
    }

    let name: String
    let text: String
    private var operands: [Operand] = []
    /// The name of each option's value; nil for a flag.
    private var options: [String: String?] = [:]
    private var required: Set<String> = []

    init(_ name: String, _ text: String) {
        self.name = name
        self.text = text
        var words = text.split(separator: " ").map(String.init)[...]
        while var word = words.popFirst() {
            let isOptional = word.hasPrefix("[")
            let isClosed = word.hasSuffix("]")
            word = word.trimming("[]")
            if word.hasPrefix("--") {
                // A flag is closed at once; what is not closed has a value.
                let isFlag = isOptional && isClosed
                let value: String? = isFlag ? nil : words.popFirst()?.trimming("[]")
                options.updateValue(value, forKey: word)
                if !isOptional { required.insert(word) }
            } else {
                let isRepeated = word.hasSuffix("…")
                operands.append(
                    Operand(name: word.trimming("…"), isOptional: isOptional, isRepeated: isRepeated))
            }
        }
    }

    private func refusal(_ reason: String) -> MeasureError { .usage("\(name) \(text)\n\(reason)") }

    func check(_ arguments: [String]) throws(MeasureError) {
        var found: [String] = []
        var missing = required
        var rest = arguments[...]
        while let word = rest.popFirst() {
            guard word.hasPrefix("--") else {
                found.append(word)
                continue
            }
            guard let known = options[word] else { throw refusal("there is no option \(word)") }
            missing.remove(word)
            guard let value = known else { continue }
            guard let given = rest.popFirst() else { throw refusal("\(word) wants a value") }
            try check(given, value, word)
        }
        if let option = missing.sorted().first { throw refusal("\(option) is missing") }
        let least = operands.count { !$0.isOptional }
        guard found.count >= least else { throw refusal("\(operands[found.count].name) is missing") }
        for (index, word) in found.enumerated() {
            let operand = operands.indices.contains(index) ? operands[index] : operands.last
            guard let operand, index < operands.count || operand.isRepeated else {
                throw refusal("\(word) is one too many")
            }
            try check(word, operand.name, operand.name)
        }
    }

    private func check(_ word: String, _ kind: String, _ name: String) throws(MeasureError) {
        if kind == "N", Int(word) == nil {
            throw refusal("\(name) is a whole number, not '\(word)'")
        }
        if kind == "N,…",
            word.split(separator: ",", omittingEmptySubsequences: false).contains(where: { Int($0) == nil })
        {
            throw refusal("\(name) has whole numbers with commas between, not '\(word)'")
        }
        if kind.contains("|"), !kind.split(separator: "|").contains(Substring(word)) {
            throw refusal("'\(word)' is none of \(kind)")
        }
    }
}

extension String {
    fileprivate func trimming(_ characters: String) -> String {
        var result = Substring(self)
        while let first = result.first, characters.contains(first) { result.removeFirst() }
        while let last = result.last, characters.contains(last) { result.removeLast() }
        return String(result)
    }
}

/// How the measurements are called, for those that have one form.
let usages: [String: String] = [
    "batching": "MODEL [--streams N] [--tokens N] [--threads N]",
    "cancel-latency": "MODEL N N",
    "chat-templates": "",
    "context-growth": "MODEL [--context N] [--step N] [--decode N] [--threads N] [--cache-type f16|q8_0]",
    "control-tokens": "MODEL",
    "drafts": "MODEL TEXTS [--count N] [--threads N]",
    "embed": "MODEL INPUTS [N]",
    "engine-speed": "MODEL [--prompt N,…] [--generate N] [--depth N,…] [--threads N] [--repeat N] [--chunk N] "
        + "[--cache-type f16|q8_0]",
    "extraction": "MODEL DATA",
    "function-calling": "MODEL DATA N [dialect|choice]",
    "generate": "MODEL PROMPT [N] [--raw]",
    "guided": "MODEL",
    "json-parsing": "FILE",
    "json-schema-suite": "FILE",
    "kernel-speed": "[N] [TYPE…]",
    "logits": "MODEL TOKENS OUTPUT [--chunk N] [--cache-type f16|q8_0] [--adapter FILE]",
    "maskbench": "MODEL FILE [FOLDER]",
    "memory": "MODEL [--context N] [--cache-type f16|q8_0]",
    "prefix-reuse": "MODEL N",
    "prewarm": "MODEL N N",
    "random-model": "N MODEL…",
    "soak": "MODEL [--seconds N]",
    "stream-arrivals": "URL MODEL",
    "tokenize": "MODEL FILE",
    "tokenizer-ids": "MODEL TEXTS",
    "transcript-json": "N [FILE…]",
    "warm-start": "MODEL --folder FOLDER [--tokens N] [--prewarm]",
]
