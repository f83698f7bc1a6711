import Foundation

/// Where an output stands in its grammar. A value: a copy is a snapshot to come back to.
package struct Matcher: Sendable {
    /// A level of the stack.
    struct Level: Sendable {
        var state: Int32
        /// The items with their exact counts, where the state knows some only to be large.
        var exact: [Item]?
        /// The undeclared keys of the object that is open here, once there is one.
        var keys: ObjectKeys?
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
                return noteKey(&stack, byte, from: level.state, to: target)
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

    /// Keeps account of the undeclared keys of an object.
    /// - Returns: False when a key has come a second time.
    @inline(__always)
    private func noteKey(_ stack: inout [Matcher.Level], _ byte: UInt8, from before: Int32, to after: Int32) -> Bool {
        let (old, new) = (keyPlaces[Int(before)], keyPlaces[Int(after)])
        guard old == .tracked || new == .tracked else { return true }
        return noteKey(&stack[stack.count - 1].keys, byte, from: old, to: new)
    }

    @inline(never)
    private func noteKey(
        _ keys: inout ObjectKeys?, _ byte: UInt8, from before: KeyPlace, to after: KeyPlace
    ) -> Bool {
        switch (before, after) {
        case (.outside, _):
            if keys == nil { keys = ObjectKeys() }
            keys?.begin()
        case (.tracked, .tracked): keys?.append(byte)
        case (.tracked, _): return keys?.end(with: byte) ?? true
        // A key of which it is not known from its beginning that there are others.
        case (.untracked, _): break
        }
        return true
    }

    /// Puts items on a level, which stays the same container.
    private func set(_ items: [Item], at index: Int, of stack: inout [Matcher.Level]) {
        let state = internSaturated(items)
        stack[index].state = state
        stack[index].exact = farStates[Int(state)] ? items : nil
    }

    private func advanceExactly(_ stack: inout [Matcher.Level], _ byte: UInt8) -> Bool {
        let index = stack.count - 1
        let top = stack[index]
        switch step(top.exact ?? states[Int(top.state)], byte) {
        case .dead: return false
        case .stay(let items):
            set(items, at: index, of: &stack)
            return noteKey(&stack, byte, from: top.state, to: stack[index].state)
        case .push(let saved, let items):
            set(saved, at: index, of: &stack)
            stack.append(Matcher.Level(state: startState))
            set(items, at: index + 1, of: &stack)
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
        let index = stack.count - 1
        if let exact = stack[index].exact {
            set(afterValues(exact, parents), at: index, of: &stack)
        } else {
            stack[index].state = resume(stack[index].state, parentSet(parents))
        }
    }
}
