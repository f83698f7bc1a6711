extension Machine {
    /// The tokens that may come where a stack stands.
    func mask(_ stack: [Matcher.Level]) -> TokenMask {
        let mask = maskOfStates(stack)
        guard hasOpenObjects else { return mask }
        return mask.removing(repetitions(in: stack, allowed: mask))
    }

    /// The tokens of a mask that would write an undeclared key a second time.
    private func repetitions(in stack: [Matcher.Level], allowed mask: TokenMask) -> [Int32] {
        let keyTokens = trie.keyTokens
        var candidates = keyTokens.doubling
        for case let keys? in stack.lazy.map(\.keys) {
            for key in keys.written { candidates += keyTokens.tokens(containing: key) }
            let (rests, isBetweenCharacters) = keys.repetitions
            if isBetweenCharacters {
                for rest in rests { candidates += keyTokens.tokens(endingWith: rest) }
            } else if !rests.isEmpty {
                candidates += keyTokens.quoting
            }
        }
        return candidates.filter { token in
            guard mask.contains(token), let bytes = trie.bytes(of: token) else { return false }
            var ahead = stack
            return !bytes.allSatisfy { advance(&ahead, $0) }
        }
    }

    /// The tokens that may come by the states of a stack alone.
    private func maskOfStates(_ stack: [Matcher.Level]) -> TokenMask {
        if let known = maskStore.find(stack) { return known }
        arena.reset()
        let top = stack[stack.count - 1].state
        let below = ~Int32(stack.count - 2)
        arena.lowest = stack.count - 1
        addStopTokens(stack)

        let builder: WordBuilder?
        if let free = freeString(top) {
            builder = WordBuilder(copying: trie.stringProfile, upTo: free.upper, vocabularySize: trie.vocabularySize)
            walkSuffixes(free, top: top, below: below, stack)
        } else if isOpen(top) {
            builder = WordBuilder(
                copying: trie.stringProfile, upTo: Count.endless, vocabularySize: trie.vocabularySize)
            arena.tops[0] = top
            arena.belows[0] = below
            walk(trie.closing, 0, stack)
        } else {
            builder = walkSlices(top: top, below: below, stack)
        }
        let mask = finish(builder)
        maskStore.add(mask, stack, lowest: arena.lowest)
        return mask
    }

    private func addStopTokens(_ stack: [Matcher.Level]) {
        guard isAccepting(stack, onLookingAt: { arena.lowest = min(arena.lowest, $0) }) else { return }
        for token in trie.stopTokens { arena.add(token) }
    }

    /// Whether the text up to here is complete.
    func isAccepting(_ stack: [Matcher.Level], onLookingAt look: (Int) -> Void = { _ in }) -> Bool {
        let index = stack.count - 1
        if index == 0 { return isComplete(stack[0].state) }
        // A number at the bottom ends with the text.
        guard let parents = completion(of: stack[index].state) else { return false }
        look(index - 1)
        guard index == 1 else { return false }
        return isComplete(resume(stack[0].state, parents))
    }

    private func finish(_ builder: WordBuilder?) -> TokenMask {
        let found = UnsafeBufferPointer(start: arena.tokens, count: arena.tokenCount)
        if builder == nil, found.count <= TokenMask.listLimit {
            var list = Array(found)
            list.sort()
            return TokenMask(tokens: list, vocabularySize: trie.vocabularySize)
        }
        let words = builder?.words ?? TokenMask.Words(zeros: trie.wordCount)
        for token in found { words.pointer[Int(token) >> 6] |= 1 << UInt64(token & 63) }
        var count = 0
        for index in 0..<words.count { count += words.pointer[index].nonzeroBitCount }
        return TokenMask(words: words, count: count, vocabularySize: trie.vocabularySize)
    }

    // MARK: Free strings

    /// What is left to come of a free string.
    private struct FreeString {
        var lower: Int32
        var upper: Int32
        /// The set of items below that the closing quotation mark completes; nil where the mark stays in the container, as behind
        /// a key.
        var parents: Int32?
    }

    /// The bounds of a state that is inside a string of any characters, between two of them.
    private func freeString(_ state: Int32) -> FreeString? {
        let items = states[Int(state)]
        guard items.count == 1, let item = items.first else { return nil }
        if item.kind == .text {
            let language = program.languages[Int(item.reference)]
            guard language.spelling == .free, text(item.reference).automaton.isUniversal,
                item.position == TextAutomaton.start
            else {
                return nil
            }
            return FreeString(lower: item.lower, upper: item.upper, parents: item.parents)
        }
        guard item.kind == .object, item.phase == .inGroupKey else { return nil }
        let language = program.objects[Int(item.reference)].groups[Int(item.group)].language
        let position = text(language).positions[Int(item.detail)]
        guard program.languages[Int(language)].spelling == .free, position >= 0,
            text(language).automaton.isSink(position)
        else { return nil }
        return FreeString(lower: 0, upper: Count.endless, parents: nil)
    }

    /// Whether one of the ways to read a state is between two characters of a string in which every character may come for as
    /// long as a token goes on, whatever it may end with. Then only the tokens that close it are to be looked at.
    private func isOpen(_ state: Int32) -> Bool {
        states[Int(state)].contains { item in
            switch item.kind {
            case .text:
                let text = self.text(item.reference)
                return item.upper >= Count.far && text.isTotal && text.positions[Int(item.position)] >= 0
            case .object where item.phase == .inGroupKey:
                let text = self.text(program.objects[Int(item.reference)].groups[Int(item.group)].language)
                return text.isTotal && text.positions[Int(item.detail)] >= 0
            default: return false
            }
        }
    }

    /// The classes of tokens, as bits, that are allowed in a state as far as they have no more than some characters: where the one
    /// text that is open goes on as it is with each of their characters, but the rest of it is counted.
    private func countedLoops(of state: Int32) -> (bits: UInt8, limit: Int32)? {
        let items = states[Int(state)]
        guard items.count == 1, let item = items.first, item.kind == .text, item.upper < Count.far,
            program.languages[Int(item.reference)].spelling != .plain
        else { return nil }
        let text = self.text(item.reference)
        let position = text.positions[Int(item.position)]
        guard position >= 0 else { return nil }
        let bits = text.loops(at: position)
        guard bits != 0 else { return nil }
        return (bits, item.upper - text.distances.shortest(from: position))
    }

    /// Finds the tokens that close a free string and go on behind it.
    private func walkSuffixes(_ free: FreeString, top: Int32, below: Int32, _ stack: [Matcher.Level]) {
        let profile = trie.stringProfile
        // Too much is still to come for any token to close the string.
        guard free.lower <= Int32(trie.maximumTokenLength) else { return }
        if let parents = free.parents {
            let level = Int(~below)
            arena.lowest = min(arena.lowest, level)
            arena.tops[0] = resume(stack[level].state, parents)
            arena.belows[0] = ~Int32(level - 1)
        } else {
            let target = row(top)[Int(UInt8(ascii: "\""))]
            guard target >= 0, target < Self.pushFlag else { return }
            arena.tops[0] = target
            arena.belows[0] = below
        }
        profile.suffixes.withUnsafeBufferPointer { nodes in
            profile.suffixEntries.withUnsafeBufferPointer { entries in
                var index = 0
                while index < nodes.count {
                    let node = nodes[index]
                    if index > 0 {
                        guard descend(Int(node.depth), node.byte, stack) else {
                            index = Int(node.end)
                            continue
                        }
                    }
                    for entry in entries[Int(node.firstEntry)..<Int(node.firstEntry + node.entryCount)]
                    where entry.characters >= free.lower && entry.characters <= free.upper {
                        arena.add(entry.token)
                    }
                    index += 1
                }
            }
        }
    }

    // MARK: Any state

    /// Finds the allowed tokens of all classes. A class whose every character leaves the state as it is, is taken as a whole; one
    /// of which most tokens come to such a state, as a whole without the others.
    private func walkSlices(top: Int32, below: Int32, _ stack: [Matcher.Level]) -> WordBuilder? {
        var builder: WordBuilder?
        let loops = loops(of: top)
        let counted = countedLoops(of: top)
        arena.tops[0] = top
        arena.belows[0] = below
        for (index, slice) in trie.slices.enumerated() where !slice.nodes.isEmpty {
            let bit = UInt8(1) << UInt8(index)
            let isWhole = loops & bit != 0
            if let counted, counted.bits & bit != 0 {
                let words = builder ?? WordBuilder(zeros: trie.wordCount)
                words.formUnion(slice.words, trie.stringProfile, upTo: counted.limit)
                builder = words
                continue
            }
            guard isWhole || isMostlyAllowed(slice, bit, top) else {
                walk(slice.nodes, bit, stack)
                continue
            }
            let words = builder ?? WordBuilder(zeros: trie.wordCount)
            words.formUnion(slice.words)
            builder = words
            if !isWhole { walkExceptions(slice.nodes, bit, words, stack) }
        }
        return builder
    }

    private func isMostlyAllowed(_ slice: TokenTrie.Slice, _ bit: UInt8, _ top: Int32) -> Bool {
        guard bit != 1 << UInt8(TokenTrie.TokenClass.other.rawValue) else { return false }
        let row = row(top)
        var count = 0
        for root in slice.roots {
            let target = row[Int(trie.nodes[root].byte)]
            guard target >= 0, target < Self.pushFlag, loops(of: target) & bit != 0 else { continue }
            count += tokens(below: root).count
        }
        return count * 2 > slice.tokenCount
    }

    @inline(__always)
    private func tokens(below node: Int) -> Range<Int> {
        Int(trie.nodes[node].firstToken)..<Int(trie.nodes[Int(trie.nodes[node].end)].firstToken)
    }

    /// Takes out of a class that is allowed as a whole what is not.
    private func walkExceptions(_ range: Range<Int>, _ bit: UInt8, _ words: WordBuilder, _ stack: [Matcher.Level]) {
        var index = range.lowerBound
        while index < range.upperBound {
            let node = trie.nodes[index]
            let depth = Int(node.depth)
            let target = row(arena.tops[depth - 1])[Int(node.byte)]
            if target >= 0, target < Self.pushFlag {
                arena.tops[depth] = target
                arena.belows[depth] = arena.belows[depth - 1]
                index = loops(of: target) & bit != 0 ? Int(node.end) : index + 1
            } else if target >= 0, descendFar(depth, node.byte, target, stack) {
                index += 1
            } else {
                for place in tokens(below: index) { words.remove(trie.tokenIDs[place]) }
                index = Int(node.end)
            }
        }
    }

    private func walk(_ range: Range<Int>, _ bit: UInt8, _ stack: [Matcher.Level]) {
        let nodes = trie.nodes
        let ids = trie.tokenIDs
        let tops = arena.tops
        let belows = arena.belows
        var index = range.lowerBound
        let end = range.upperBound
        while index < end {
            let node = nodes[index]
            let depth = Int(node.depth)
            let target = row(tops[depth - 1])[Int(node.byte)]
            if target < 0 {
                index = Int(node.end)
                continue
            }
            if target < Self.pushFlag {
                tops[depth] = target
                belows[depth] = belows[depth - 1]
                if Int(node.end) > index + 1, loops(of: target) & bit != 0 {
                    // Whatever of this class follows is allowed.
                    arena.add(ids, tokens(below: index))
                    index = Int(node.end)
                    continue
                }
            } else if !descendFar(depth, node.byte, target, stack) {
                index = Int(node.end)
                continue
            }
            if node.tokenCount > 0 {
                let first = Int(node.firstToken)
                for token in first..<first + Int(node.tokenCount) { arena.add(ids[token]) }
            }
            index += 1
        }
    }

    /// Goes on from one depth of the walk to the next.
    private func descend(_ depth: Int, _ byte: UInt8, _ stack: [Matcher.Level]) -> Bool {
        let target = row(arena.tops[depth - 1])[Int(byte)]
        if target < 0 { return false }
        if target < Self.pushFlag {
            arena.tops[depth] = target
            arena.belows[depth] = arena.belows[depth - 1]
            return true
        }
        return descendFar(depth, byte, target, stack)
    }

    /// The same where a value begins or ends.
    @inline(never)
    private func descendFar(_ depth: Int, _ byte: UInt8, _ transition: Int32, _ stack: [Matcher.Level]) -> Bool {
        var target = transition
        var below = arena.belows[depth - 1]
        while true {
            if target < 0 { return false }
            if target < Self.pushFlag {
                arena.tops[depth] = target
                arena.belows[depth] = below
                return true
            }
            if target & Self.pushFlag != 0 {
                let push = pushes[Int(target & ~Self.pushFlag)]
                arena.tops[depth] = push.top
                arena.belows[depth] = arena.push(push.saved, below: below)
                return true
            }
            let isAgain = target & Self.popAgainFlag != 0
            let parents = target & (Self.pushFlag - 1)
            let saved: Int32
            if below >= 0 {
                (saved, below) = arena.saved[Int(below)]
            } else {
                let level = Int(~below)
                guard level >= 0 else { return false }
                arena.lowest = min(arena.lowest, level)
                saved = stack[level].state
                below = ~Int32(level - 1)
            }
            let state = resume(saved, parents)
            if !isAgain {
                arena.tops[depth] = state
                arena.belows[depth] = below
                return true
            }
            // The byte has ended a number; what it means is for what follows the number.
            target = row(state)[Int(byte)]
        }
    }

    /// The classes of tokens, as bits, whose every character leads from a state back to it.
    @inline(__always)
    private func loops(of state: Int32) -> UInt8 {
        let known = loopBits[Int(state)]
        return known != Self.unknownLoops ? known : findLoops(of: state)
    }

    @inline(never)
    private func findLoops(of state: Int32) -> UInt8 {
        let result = UInt8(loops(from: state))
        loopBits[Int(state)] = result
        return result
    }

    private func loops(from state: Int32) -> Int {
        let row = row(state)
        func loops(over ranges: [ClosedRange<Int>]) -> Bool {
            for range in ranges { for byte in range where row[byte] != state { return false } }
            return true
        }
        var result = 0
        guard loops(over: [0x30...0x39, 0x41...0x5a, 0x5f...0x5f, 0x61...0x7a]) else { return 0 }
        result |= 1 << TokenTrie.TokenClass.word.rawValue
        guard row[0x20] == state else { return result }
        result |= 1 << TokenTrie.TokenClass.spacedWord.rawValue
        guard loops(over: [0x20...0x21, 0x23...0x5b, 0x5d...0x7f]) else { return result }
        result |= 1 << TokenTrie.TokenClass.ascii.rawValue
        // A character of several bytes must come back on every path.
        var known: [Int32: Bool] = [:]
        func returns(_ target: Int32, _ remaining: Int, _ range: ClosedRange<Int>) -> Bool {
            guard target >= 0, target < Self.pushFlag else { return false }
            if let known = known[target] { return known }
            let row = self.row(target)
            var isGood = true
            for byte in range where isGood {
                isGood = remaining == 1 ? row[byte] == state : returns(row[byte], remaining - 1, 0x80...0xbf)
            }
            known[target] = isGood
            return isGood
        }
        for lead in 0xc2...0xf4 {
            let (remaining, range): (Int, ClosedRange<Int>) =
                switch lead {
                case 0xc2...0xdf: (1, 0x80...0xbf)
                case 0xe0: (2, 0xa0...0xbf)
                case 0xed: (2, 0x80...0x9f)
                case 0xe1...0xef: (2, 0x80...0xbf)
                case 0xf0: (3, 0x90...0xbf)
                case 0xf4: (3, 0x80...0x8f)
                default: (3, 0x80...0xbf)
                }
            guard returns(row[lead], remaining, range) else { return result }
        }
        return result | 1 << TokenTrie.TokenClass.unicode.rawValue
    }
}

/// A bit set over the vocabulary that is being filled.
private struct WordBuilder {
    let words: TokenMask.Words

    init(zeros count: Int) { words = TokenMask.Words(zeros: count) }

    /// The tokens that stay inside a free string with at most so many characters.
    init(copying profile: StringProfile, upTo limit: Int32, vocabularySize: Int) {
        words = TokenMask.Words(count: profile.wordCount)
        let longest = profile.prefixCounts.count - 1
        if Int(limit) >= longest {
            words.pointer.update(from: profile.allInside, count: profile.wordCount)
            return
        }
        let base = min(Int(limit), profile.wordSetCount - 1)
        words.pointer.update(from: profile.wordSets + base * profile.wordCount, count: profile.wordCount)
        for entry in profile.inside[profile.prefixCounts[base]..<profile.prefixCounts[Int(limit)]] {
            words.pointer[Int(entry.token) >> 6] |= 1 << UInt64(entry.token & 63)
        }
    }

    /// Adds those of some tokens that hold at most so many characters.
    func formUnion(_ other: UnsafeMutablePointer<UInt64>, _ profile: StringProfile, upTo limit: Int32) {
        guard limit > 0 else { return }
        let longest = profile.prefixCounts.count - 1
        if Int(limit) >= longest { return formUnion(other) }
        let base = min(Int(limit), profile.wordSetCount - 1)
        let set = profile.wordSets + base * profile.wordCount
        for index in 0..<words.count { words.pointer[index] |= other[index] & set[index] }
        for entry in profile.inside[profile.prefixCounts[base]..<profile.prefixCounts[Int(limit)]] {
            let (word, bit) = (Int(entry.token) >> 6, UInt64(1) << UInt64(entry.token & 63))
            words.pointer[word] |= other[word] & bit
        }
    }

    func remove(_ token: Int32) { words.pointer[Int(token) >> 6] &= ~(1 << UInt64(token & 63)) }

    func formUnion(_ other: UnsafeMutablePointer<UInt64>) {
        for index in 0..<words.count { words.pointer[index] |= other[index] }
    }
}

extension TokenMask.Words {
    convenience init(zeros count: Int) {
        self.init(count: count)
        pointer.initialize(repeating: 0, count: count)
    }
}

extension Automaton {
    /// Whether a state accepts whatever follows.
    func isSink(_ state: Int32) -> Bool {
        let edges = edges(of: state)
        guard accepts[Int(state)], edges.count == 1, let edge = edges.first else { return false }
        return edge.low == 0 && edge.high == ScalarSet.last && edge.target == state
    }
}
