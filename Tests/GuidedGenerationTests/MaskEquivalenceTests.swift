import GuidedGeneration
import JSON
import Testing

/// The fast paths of masks (classes of tokens, the profile of free strings, kept masks, counts that are far away) against what
/// walking every token byte by byte says.
@Suite struct MaskEquivalenceTests {
    private static func check(_ matcher: Matcher, _ tokens: [[UInt8]], _ context: String) -> [Int32] {
        var asked = matcher
        let mask = asked.mask()
        var allowed: [Int32] = []
        for (token, bytes) in tokens.enumerated() {
            var walked = matcher
            let isAllowed = token == tokens.count - 1 ? matcher.isAccepting : walked.accept(bytes: bytes)
            if mask.contains(Int32(token)) != isAllowed {
                Issue.record(
                    "\(context): token \(token) '\(String(decoding: bytes, as: UTF8.self))' mask says \(!isAllowed)")
            }
            if isAllowed { allowed.append(Int32(token)) }
        }
        #expect(mask.count == allowed.count, "\(context)")
        return allowed
    }

    /// Goes on at random, checking every mask on the way; half the time towards an end where one is near.
    private static func run(
        _ grammar: Grammar, _ tokens: [[UInt8]], _ trie: TokenTrie, seed: UInt64, steps: Int, _ context: String
    ) -> [UInt8]? {
        var random = RandomBits(seed)
        var matcher = Matcher(grammar, trie: trie)
        var text: [UInt8] = []
        let stop = Int32(tokens.count - 1)
        for step in 0..<steps {
            let allowed = check(matcher, tokens, "\(context) after \(String(decoding: text, as: UTF8.self))")
            guard !allowed.isEmpty else {
                Issue.record("\(context): a dead end after \(String(decoding: text, as: UTF8.self))")
                return nil
            }
            if allowed.contains(stop), step > steps / 2 || Bool.random(using: &random) { return text }
            let closing = allowed.filter { token in
                tokens[Int(token)].count == 1 && tokens[Int(token)].allSatisfy { "\"}]".utf8.contains($0) }
            }
            let isClosing = !closing.isEmpty && (step > 12 || Int.random(in: 0..<3, using: &random) == 0)
            let token = (isClosing ? closing : allowed.filter { $0 != stop }).randomElement(using: &random) ?? stop
            if token == stop { return text }
            #expect(matcher.accept(token))
            text += tokens[Int(token)]
        }
        return nil
    }

    @Test(arguments: 0..<12) func masksAgreeWithWalking(_ group: Int) throws {
        for index in 0..<12 {
            let seed = UInt64(group * 100 + index + 1)
            var schemas = RandomSchemas(random: RandomBits(seed))
            let schema = schemas.schema(depth: 2)
            guard let grammar = try? Grammar.jsonSchema(schema) else { continue }
            for walk in 0..<2 {
                guard
                    let text = Self.run(
                        grammar, Vocabulary.standardTokens, Vocabulary.standard, seed: seed &* 31 &+ UInt64(walk),
                        steps: 60, schema.text())
                else { continue }
                // What ends is strict JSON, and valid by the plain reading of the schema.
                let value = try JSONValue(parsing: text)
                #expect(PlainValidator(root: schema).isValid(value, schema), "\(schema.text()) \(value.text())")
            }
        }
    }

    @Test func masksOfRandomVocabulariesAgreeWithWalking() throws {
        var random = RandomBits(77)
        let alphabet = Array("ab\"\\{}[]:,0 é\n".utf8)
        let schemas = [
            "{}", #"{"type": "string", "minLength": 2, "maxLength": 5}"#,
            #"{"type": "string", "pattern": "^[ab]*$", "maxLength": 200}"#,
            #"{"type": "object", "additionalProperties": {"type": "string", "pattern": "a"}}"#,
            #"{"type": "object", "properties": {"a": {}, "ab": {}}}"#,
            #"{"type": "array", "items": {"type": "array", "items": {"enum": [0, 0.5, ""]}}, "minItems": 1}"#,
        ]
        for round in 0..<6 {
            let pieces: [[UInt8]] = (0..<80).map { _ in
                (0..<Int.random(in: 1...5, using: &random)).map { _ in alphabet.randomElement(using: &random)! }
            }
            let tokens = (0...255).map { [UInt8($0)] } + pieces + [[]]
            let trie = Vocabulary.trie(tokens)
            for (index, schema) in schemas.enumerated() {
                _ = Self.run(
                    try Grammar.schema(schema), tokens, trie, seed: UInt64(round * 10 + index + 1), steps: 30, schema)
            }
        }
    }

    @Test func patternsAndFormatsAgreeWithWalking() throws {
        for (index, constraint) in [
            #""pattern": "^[^/]+/[a-z]+$""#, #""pattern": "^.*x$", "maxLength": 40"#, #""format": "date-time""#,
            #""format": "email""#,
            #""pattern": "^(?:\\S+\\s+){0,9}\\S+$""#, #""pattern": "^[a-z0-9]{1,300}$""#,
            #""minLength": 200, "maxLength": 230"#,
        ].enumerated() {
            let grammar = try Grammar.schema("{\"type\": \"string\", \(constraint)}")
            _ = Self.run(
                grammar, Vocabulary.standardTokens, Vocabulary.standard, seed: UInt64(index + 1), steps: 40, constraint)
        }
    }

    @Test func countsThatAreFarAwayAreExactWhenTheyCome() throws {
        let grammar = try Grammar.schema(
            #"{"type": "array", "items": {"type": "string", "minLength": 300, "maxLength": 303}, "minItems": 200, "maxItems": 201}"#
        )
        let element = "\"\(String(repeating: "ab", count: 151))\""
        func list(_ count: Int, _ element: String) -> String {
            "[\(Array(repeating: element, count: count).joined(separator: ","))]"
        }
        #expect(grammar.accepts(list(200, element)))
        #expect(grammar.accepts(list(201, element)))
        #expect(!grammar.accepts(list(199, element)))
        #expect(!grammar.accepts(list(202, element)))
        #expect(!grammar.accepts(list(200, "\"\(String(repeating: "a", count: 299))\"")))
        #expect(!grammar.accepts(list(200, "\"\(String(repeating: "a", count: 304))\"")))
    }

    @Test func everyCutOfATextIntoTokensIsAccepted() throws {
        let grammar = try Grammar.schema(
            #"{"type": "object", "properties": {"name": {"type": "string"}, "ids": {"type": "array", "items": {"type": "integer"}}}, "required": ["name"]}"#
        )
        let bytes = Array(#"{"name":"é日","ids":[12,0],"x":{}}"#.utf8)
        let tokens = Vocabulary.standardTokens
        var random = RandomBits(5)
        for _ in 0..<60 {
            var matcher = Matcher(grammar, trie: Vocabulary.standard)
            var position = 0
            while position < bytes.count {
                let fitting = tokens.indices.filter {
                    !tokens[$0].isEmpty && bytes[position...].starts(with: tokens[$0])
                }
                let token = fitting.randomElement(using: &random)!
                #expect(matcher.mask().contains(Int32(token)))
                #expect(matcher.accept(Int32(token)))
                position += tokens[token].count
            }
            #expect(matcher.isFinished)
        }
    }
}
