import Foundation
import JSON

/// What a schema's compilation may choose.
package struct SchemaOptions: Hashable, Sendable {
    /// Whether a space follows `,` and `:`. White space is canonical either way: there is none but this.
    package var isSpaced: Bool
    /// Whether `format` is enforced. JSON Schema 2020-12 makes it an annotation unless a vocabulary asks for more.
    package var enforcesFormats: Bool
    /// Whether whole numbers keep to those of an `Int`, which is what they are read as, where no bound asks for larger ones.
    package var keepsIntegersReadable: Bool

    package init(isSpaced: Bool = false, enforcesFormats: Bool = true, keepsIntegersReadable: Bool = false) {
        self.isSpaced = isSpaced
        self.enforcesFormats = enforcesFormats
        self.keepsIntegersReadable = keepsIntegersReadable
    }
}

/// The texts that an output may be.
package struct Grammar: Sendable {
    /// A keyword beside those of JSON Schema: a regular expression in Swift's syntax that whole strings match. A `pattern` beside it
    /// that says the same in JSON Schema's own syntax, `^(?:…)$`, is not read a second time.
    package static let swiftRegexKeyword = "x-swift-regex"

    let program: Program
    private let machines = MachineCache()

    private init(_ program: Program) { self.program = program }

    /// The JSON texts, in canonical form, of the values that a JSON Schema allows.
    package static func jsonSchema(
        _ schema: JSONValue, options: SchemaOptions = .init()
    ) throws(GrammarError) -> Grammar {
        Grammar(try ProgramBuilder.build(schema, options: options))
    }

    /// The texts that a regular expression, written as for Swift's `Regex`, matches as a whole.
    package static func regex(_ pattern: String) throws(GrammarError) -> Grammar {
        let automaton: Automaton
        do {
            automaton = try RegexCompiler.whole(pattern, dialect: .swift)
        } catch {
            throw GrammarError(error.reason, keyword: "regex", error.message)
        }
        guard !automaton.isEmpty else {
            throw GrammarError(.unsatisfiable, keyword: "regex", "no text matches the pattern")
        }
        return Grammar(Program(languages: [.init(automaton, .plain)], root: .text(language: 0)))
    }

    /// One of a set of texts.
    package static func choice(_ texts: [String]) throws(GrammarError) -> Grammar {
        guard !texts.isEmpty else {
            throw GrammarError(.invalid, keyword: "choice", "there must be a text to choose")
        }
        guard Automaton.canList(texts) else {
            throw GrammarError(.tooComplex, keyword: "choice", Automaton.listLimitMessage)
        }
        return Grammar(Program(languages: [.init(.texts(texts), .plain)], root: .text(language: 0)))
    }

    /// The machine of this grammar over a vocabulary, shared by all matchers.
    func machine(for trie: TokenTrie) -> Machine { machines.machine(for: trie, of: program) }
}

/// The machines of one grammar, one for each vocabulary that is alive.
private final class MachineCache: @unchecked Sendable {  // guarded by `lock`
    private let lock = NSLock()
    private var machines: [ObjectIdentifier: Machine] = [:]

    func machine(for trie: TokenTrie, of program: Program) -> Machine {
        lock.withLock {
            // A machine keeps its vocabulary alive, so that the identity stays its own.
            if let known = machines[ObjectIdentifier(trie)] { return known }
            if machines.count >= 4 { machines.removeAll() }
            let machine = Machine(program, trie: trie)
            machines[ObjectIdentifier(trie)] = machine
            return machine
        }
    }
}
