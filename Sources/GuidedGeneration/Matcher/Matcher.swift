import Foundation

/// Where an output stands in its grammar. A value: a copy is a snapshot to come back to.
package struct Matcher: Sendable {
    /// A level of the stack.
    struct Level: Sendable {
        var state: Int32
        /// The items with their exact counts, where the state knows some only to be large.
        var exact: [Item]?
    }

    private let machine: Machine
    private var stack: [Level]
    /// Whether a stop token has ended the text.
    private var isStopped = false

    package init(_ grammar: Grammar, trie: TokenTrie) {
        machine = grammar.machine(for: trie)
        stack = [Level(state: machine.startState)]
    }

    /// The tokens that may come next; stop tokens are among them where the text so far is complete.
    package mutating func mask() -> TokenMask {
        if isStopped { return TokenMask(tokens: [], vocabularySize: machine.trie.vocabularySize) }
        return machine.lock.withLock {
            machine.trim()
            return machine.mask(stack)
        }
    }

    /// Goes on by a token.
    /// - Returns: Whether the token was allowed; when it was not, nothing has changed.
    package mutating func accept(_ token: Int32) -> Bool {
        guard !isStopped else { return false }
        if machine.trie.isStop(token) {
            guard isAccepting else { return false }
            isStopped = true
            return true
        }
        guard let bytes = machine.trie.bytes(of: token) else { return false }
        return advance(bytes)
    }

    /// Goes on by text.
    /// - Returns: Whether the text was allowed; when it was not, nothing has changed.
    package mutating func accept(bytes: some Sequence<UInt8>) -> Bool {
        guard !isStopped else { return false }
        return advance(bytes)
    }

    /// The text that must come next whatever the model says; empty when there is a choice.
    package mutating func forcedBytes() -> [UInt8] {
        guard !isStopped else { return [] }
        return machine.lock.withLock {
            machine.trim()
            var ahead = stack
            var bytes: [UInt8] = []
            while bytes.count < Self.forcedLimit {
                let state = ahead[ahead.count - 1].state
                _ = machine.row(state)
                let byte = machine.forcedBytes[Int(state)]
                guard byte >= 0, !machine.isAccepting(ahead), machine.advance(&ahead, UInt8(byte)) else { break }
                bytes.append(UInt8(byte))
            }
            return bytes
        }
    }

    /// Bytes that are looked ahead at a time.
    private static let forcedLimit = 4096

    /// Whether the text so far is complete.
    package var isAccepting: Bool { isStopped || machine.lock.withLock { machine.isAccepting(stack) } }

    /// Whether the text so far is complete and nothing can follow.
    package var isFinished: Bool {
        isStopped
            || machine.lock.withLock {
                guard machine.isAccepting(stack) else { return false }
                return !(0..<256).contains { byte in
                    var ahead = stack
                    return machine.advance(&ahead, UInt8(byte))
                }
            }
    }

    private mutating func advance(_ bytes: some Sequence<UInt8>) -> Bool {
        let before = stack
        let isAllowed = machine.lock.withLock {
            machine.trim()
            for byte in bytes {
                guard machine.advance(&stack, byte) else { return false }
            }
            return true
        }
        if !isAllowed { stack = before }
        return isAllowed
    }
}

extension Machine {
    /// Goes on by a byte.
    /// - Returns: False when the byte is not allowed; the stack may have changed then.
    func advance(_ stack: inout [Matcher.Level], _ byte: UInt8) -> Bool {
        while true {
            let level = stack[stack.count - 1]
            guard level.exact == nil else { return advanceExactly(&stack, byte) }
            let target = row(level.state)[Int(byte)]
            if target < 0 { return false }
            if target < Self.pushFlag {
                guard !farStates[Int(target)] else { return advanceExactly(&stack, byte) }
                stack[stack.count - 1].state = target
                return true
            }
            if target & Self.pushFlag != 0 {
                let push = pushes[Int(target & ~Self.pushFlag)]
                guard !farStates[Int(push.saved)], !farStates[Int(push.top)] else {
                    return advanceExactly(&stack, byte)
                }
                stack[stack.count - 1].state = push.saved
                stack.append(Matcher.Level(state: push.top))
                return true
            }
            pop(&stack, parentSets[Int(target & (Self.pushFlag - 1))])
            if target & Self.popFlag != 0 { return true }
        }
    }

    private func level(_ items: [Item]) -> Matcher.Level {
        let state = internSaturated(items)
        return Matcher.Level(state: state, exact: farStates[Int(state)] ? items : nil)
    }

    private func advanceExactly(_ stack: inout [Matcher.Level], _ byte: UInt8) -> Bool {
        let top = stack[stack.count - 1]
        switch step(top.exact ?? states[Int(top.state)], byte) {
        case .dead: return false
        case .stay(let items):
            stack[stack.count - 1] = level(items)
            return true
        case .push(let saved, let items):
            stack[stack.count - 1] = level(saved)
            stack.append(level(items))
            return true
        case .pop(let parents):
            pop(&stack, parents)
            return true
        case .popAgain(let parents):
            pop(&stack, parents)
            return advance(&stack, byte)
        }
    }

    private func pop(_ stack: inout [Matcher.Level], _ parents: [Int32]) {
        stack.removeLast()
        let below = stack[stack.count - 1]
        if let exact = below.exact {
            stack[stack.count - 1] = level(afterValues(exact, parents))
        } else {
            stack[stack.count - 1].state = resume(below.state, parentSet(parents))
        }
    }
}
