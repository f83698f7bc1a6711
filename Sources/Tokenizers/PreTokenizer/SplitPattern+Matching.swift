extension SplitPattern {
    /// Calls `body` with the parts of `text[range]`: each match of the pattern, and what lies between two matches.
    @inline(__always)
    func split(_ text: UnsafeBufferPointer<UInt8>, _ range: Range<Int>, body: (Range<Int>) -> Void) {
        nodes.withUnsafeBufferPointer { nodes in
            starts.withUnsafeBufferPointer { starts in
                let matcher = Matcher(pattern: self, nodes: nodes, text: text, end: range.upperBound)
                var fruitless = FruitlessRun()
                var position = range.lowerBound
                var gap = position
                while position < range.upperBound {
                    let end = matcher.match(at: position, starts, &fruitless)
                    if end > position {
                        if gap < position { body(gap..<position) }
                        body(position..<end)
                        position = end
                        gap = end
                    } else {
                        position &+= Unicode.UTF8.length(leadByte: text[position])
                    }
                }
                if gap < range.upperBound { body(gap..<range.upperBound) }
            }
        }
    }

    /// Characters that an alternative such as `\s*[\r\n]+` took all of, and found at none of them what must follow: beginning
    /// anywhere else among them it would find as little. Without this, long runs of spaces take quadratic time.
    private struct FruitlessRun {
        var alternative = -1
        var end = 0
    }

    /// Backtracks over the nodes of a pattern. The text is valid UTF-8.
    private struct Matcher {
        let pattern: SplitPattern
        let nodes: UnsafeBufferPointer<Node>
        let text: UnsafeBufferPointer<UInt8>
        /// Where the part of the text ends that is being cut.
        let end: Int
        let classes = ScalarClass.table

        init(pattern: SplitPattern, nodes: UnsafeBufferPointer<Node>, text: UnsafeBufferPointer<UInt8>, end: Int) {
            self.pattern = pattern
            self.nodes = nodes
            self.text = text
            self.end = end
        }

        /// Where the match that begins at `position` ends, or -1.
        @inline(__always)
        func match(at position: Int, _ starts: UnsafeBufferPointer<UInt64>, _ fruitless: inout FruitlessRun) -> Int {
            var candidates = starts[Int(text[position])]
            while candidates != 0 {
                let alternative = candidates.trailingZeroBitCount
                candidates &= candidates &- 1
                if alternative == fruitless.alternative, position < fruitless.end { continue }
                let start = pattern.alternatives[alternative]
                let end = match(start, position)
                if end >= 0 { return end }
                noteFailure(of: alternative, from: start, at: position, &fruitless)
            }
            return -1
        }

        @inline(__always)
        private func noteFailure(
            of alternative: Int, from start: Int32, at position: Int, _ fruitless: inout FruitlessRun
        ) {
            guard start >= 0 else { return }
            let node = nodes[Int(start)]
            guard node.kind == .set, node.minimum == 0, node.maximum == .max else { return }
            var runEnd = position
            while runEnd < end {
                let length = takes(node, at: runEnd)
                if length == 0 { break }
                runEnd &+= length
            }
            fruitless = FruitlessRun(alternative: alternative, end: runEnd)
        }

        private func match(_ start: Int32, _ position: Int) -> Int {
            var position = position
            var index = start
            while index >= 0 {
                let node = nodes[Int(index)]
                switch node.kind {
                case .notFollowedBy:
                    if position < end, takes(node, at: position) > 0 { return -1 }
                case .branch:
                    for branch in node.branches {
                        let end = match(pattern.branches[Int(branch)], position)
                        if end >= 0 { return end }
                    }
                    return -1
                case .set:
                    var count = 0
                    let first = position
                    while count < node.maximum, position < end {
                        let length = takes(node, at: position)
                        if length == 0 { break }
                        position &+= length
                        count &+= 1
                    }
                    if count < node.minimum { return -1 }
                    // The greediest first, then ever fewer.
                    if node.next >= 0, count > node.minimum {
                        while true {
                            let end = match(node.next, position)
                            if end >= 0 { return end }
                            if count == node.minimum { return -1 }
                            count &-= 1
                            repeat { position &-= 1 } while position > first && text[position] & 0xc0 == 0x80
                        }
                    }
                }
                index = node.next
            }
            return position
        }

        /// How many bytes the character at `position` has if the set takes it, else 0.
        @inline(__always)
        private func takes(_ node: Node, at position: Int) -> Int {
            let byte = text[position]
            if byte < 0x80 {
                let word = byte < 64 ? node.low : node.high
                return Int(truncatingIfNeeded: word >> UInt64(byte & 63) & 1)
            }
            let length = Unicode.UTF8.length(leadByte: byte)
            var scalar = UInt32(byte) & (0x7f >> UInt32(length))
            for offset in 1..<length { scalar = scalar << 6 | UInt32(text[position &+ offset] & 0x3f) }
            var isMember = node.classes >> UInt32(classes[scalar]) & 1 != 0
            if !isMember, !node.ranges.isEmpty {
                for index in node.ranges where pattern.ranges[Int(index)].contains(scalar) {
                    isMember = true
                    break
                }
            }
            return isMember != node.isNegated ? length : 0
        }
    }
}
