import GuidedGeneration
import JSON
import Testing

@Suite struct GrammarCacheTests {
    @Test func schemasAreKeptApartByTheirText() throws {
        let cache = GrammarCache(options: SchemaOptions(isSpaced: true))
        let composed = try cache.grammar(for: ["enum": ["\u{e9}"]])
        let decomposed = try cache.grammar(for: ["enum": ["e\u{301}"]])
        #expect(cache.count == 2)
        #expect(composed.accepts("\"\u{e9}\"") && !composed.accepts("\"e\u{301}\""))
        #expect(decomposed.accepts("\"e\u{301}\"") && !decomposed.accepts("\"\u{e9}\""))
        _ = try cache.grammar(for: ["enum": ["\u{e9}"]])
        #expect(cache.count == 2)
    }

    @Test func optionsAreThoseOfTheCache() throws {
        for isSpaced in [true, false] {
            let cache = GrammarCache(options: SchemaOptions(isSpaced: isSpaced))
            let grammar = try cache.grammar(for: ["const": ["a": 1]])
            #expect(grammar.accepts(#"{"a": 1}"#) == isSpaced)
            #expect(grammar.accepts(#"{"a":1}"#) != isSpaced)
        }
    }

    @Test func aFullCacheBeginsAnewAndRefusedSchemasAreNotKept() throws {
        let cache = GrammarCache(options: SchemaOptions())
        #expect(throws: GrammarError.self) { try cache.grammar(for: ["type": "nonsense"]) }
        for number in 0..<GrammarCache.limit { _ = try cache.grammar(for: ["const": .number(JSONNumber(number))]) }
        #expect(cache.count == GrammarCache.limit)
        #expect(try cache.grammar(for: ["const": "more"]).accepts("\"more\""))
        #expect(cache.count == 1)
    }
}
