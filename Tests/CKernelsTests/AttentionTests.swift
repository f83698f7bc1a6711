import CKernels
import Foundation
import Testing

extension Kernels {
    @Suite struct AttentionTests {
        struct Case: CustomTestStringConvertible {
            var heads: Int
            var kvHeads: Int
            var dim: Int
            var window = 0
            var softCap: Float = 0
            /// Of the cache.
            var type = CK_F16
            var testDescription: String {
                "\(heads)/\(kvHeads) heads of \(dim), window \(window), cap \(softCap), \(type.testDescription)"
            }

            static func ofBothTypes(_ cases: [Case]) -> [Case] {
                cases.flatMap { c in
                    [CK_F16, CK_Q8_0].map { type in
                        var c = c
                        c.type = type
                        return c
                    }
                }
            }
        }

        /// One sequence's cache and the numbers that were stored, as it keeps them.
        final class Cache {
            let cache: UnsafeMutablePointer<ck_cache>
            let keys: [Float]  // [slots, kvHeads, dim]
            let values: [Float]
            /// As they stand in the cache: `keys`, or those turned.
            let storedKeys: [Float]
            private let bytes: Int

            init(_ c: Case, slots: Int, pool: Pool, using generator: inout SeededGenerator) {
                let capacity = (slots + 20) / 8 * 8
                let bytes = ck_cache_bytes(c.type, Int64(c.kvHeads), Int64(c.dim), Int64(capacity))
                guard let keys = ck_allocate(bytes), let values = ck_allocate(bytes) else { fatalError("no memory") }
                let cache = UnsafeMutablePointer<ck_cache>.allocate(capacity: 1)
                cache.initialize(
                    to: ck_cache(keys: keys, values: values, capacity: Int64(capacity), type: c.type))
                let width = c.kvHeads * c.dim
                let k = generator.floats(slots * width).map { $0 / 2 }
                let v = generator.floats(slots * width)
                // In two batches, of which one is large enough to be shared out.
                for range in [0..<slots / 3, slots / 3..<slots] where !range.isEmpty {
                    let tokens = range.map { ck_token(cache: cache, position: Int64($0)) }
                    k[(range.lowerBound * width)...].withUnsafeBufferPointer { k in
                        v[(range.lowerBound * width)...].withUnsafeBufferPointer { v in
                            ck_cache_store(
                                pool.pool, k.baseAddress, Int64(width), v.baseAddress, Int64(width), tokens,
                                Int64(tokens.count), Int32(c.kvHeads), Int32(c.dim))
                        }
                    }
                }
                (self.cache, self.bytes) = (cache, bytes)
                self.values = AttentionTests.kept(c, v)
                storedKeys = AttentionTests.kept(c, AttentionTests.turned(c, k))
                self.keys = AttentionTests.turned(c, storedKeys)
            }

            deinit {
                ck_free(cache.pointee.keys, bytes)
                ck_free(cache.pointee.values, bytes)
                cache.deallocate()
            }
        }

        static func halved(_ x: [Float]) -> [Float] {
            var halves = [UInt16](repeating: 0, count: x.count)
            var back = x
            ck_f32_to_f16(x, &halves, Int64(x.count))
            ck_f16_to_f32(halves, &back, Int64(x.count))
            return back
        }

        /// The runs of keys under a cache's Walsh-Hadamard transform, which is its own inverse. [slots, kvHeads, dim]
        static func turned(_ c: Case, _ x: [Float]) -> [Float] {
            guard c.type == CK_Q8_0 else { return x }
            var x = x
            for head in stride(from: 0, to: x.count, by: c.dim) {
                for first in stride(from: head, to: head + c.dim, by: 32) {
                    let count = min(32, head + c.dim - first)
                    let width = count & -count
                    var half = 1
                    while half < width {
                        for i in 0..<count where i & half == 0 {
                            let (a, b) = (x[first + i], x[first + i + half])
                            (x[first + i], x[first + i + half]) = (a + b, a - b)
                        }
                        half *= 2
                    }
                    for i in first..<first + count { x[i] *= 1 / Float(width).squareRoot() }
                }
            }
            return x
        }

        /// Numbers as a cache keeps them. [slots, kvHeads, dim]
        static func kept(_ c: Case, _ x: [Float]) -> [Float] {
            guard c.type == CK_Q8_0 else { return halved(x) }
            var result = x
            for head in stride(from: 0, to: x.count, by: c.dim) {
                for first in stride(from: head, to: head + c.dim, by: 32) {
                    let run = first..<min(first + 32, head + c.dim)
                    let scale = halved([run.map { abs(x[$0]) }.max()! / 127])[0]
                    for i in run { result[i] = scale * (x[i] * (1 / scale)).rounded(.toNearestOrEven) }
                }
            }
            return result
        }

        /// What one head of one token should be, in double.
        static func reference(_ c: Case, _ q: ArraySlice<Float>, head: Int, position: Int, cache: Cache, scale: Float)
            -> [Float]
        {
            let kvHead = head / (c.heads / c.kvHeads)
            let first = c.window > 0 ? max(0, position - c.window + 1) : 0
            let q = Array(q)
            let scores = (first...position).map { slot -> Double in
                let base = (slot * c.kvHeads + kvHead) * c.dim
                var score =
                    (0..<c.dim).reduce(0.0) { $0 + Double(q[$1]) * Double(cache.keys[base + $1]) } * Double(scale)
                if c.softCap > 0 { score = Double(c.softCap) * tanh(score / Double(c.softCap)) }
                return score
            }
            let greatest = scores.max()!
            let weights = scores.map { exp($0 - greatest) }
            let total = weights.reduce(0, +)
            return (0..<c.dim).map { d in
                var sum = 0.0
                for (i, weight) in weights.enumerated() {
                    sum += weight * Double(cache.values[((first + i) * c.kvHeads + kvHead) * c.dim + d])
                }
                return Float(sum / total)
            }
        }

        static let cases = Case.ofBothTypes([
            Case(heads: 9, kvHeads: 3, dim: 64), Case(heads: 4, kvHeads: 1, dim: 256, window: 24),
            Case(heads: 12, kvHeads: 2, dim: 128), Case(heads: 14, kvHeads: 2, dim: 64, window: 1),
            Case(heads: 2, kvHeads: 2, dim: 80, softCap: 20), Case(heads: 3, kvHeads: 3, dim: 96, window: 70),
            Case(heads: 5, kvHeads: 1, dim: 8), Case(heads: 72, kvHeads: 1, dim: 40, softCap: 5),
        ])

        /// A batch of two sequences: a chunk of one, single tokens of the other, at positions that fall on and off blocks.
        @Test(arguments: AttentionTests.cases)
        func `every set attends right`(c: Case) {
            var generator = SeededGenerator(state: 21)
            let pool = Pool(threads: 2)
            let long = Cache(c, slots: 150, pool: pool, using: &generator)
            let other = Cache(c, slots: 70, pool: pool, using: &generator)
            var batch = (100..<150).map { (long, $0) }
            batch += [(other, 0), (other, 69), (long, 149), (other, 63), (other, 64), (other, 7)]
            let tokens = batch.map { ck_token(cache: $0.0.cache, position: Int64($0.1)) }
            let width = c.heads * c.dim
            let q = generator.floats(tokens.count * width)
            let scale = 1 / Float(c.dim).squareRoot()
            var expected: [Float] = []
            for (t, (cache, position)) in batch.enumerated() {
                for h in 0..<c.heads {
                    let start = t * width + h * c.dim
                    expected += Self.reference(
                        c, q[start..<start + c.dim], head: h, position: position, cache: cache, scale: scale)
                }
            }
            let shape = ck_attention_shape(
                heads: Int32(c.heads), kv_heads: Int32(c.kvHeads), head_dim: Int32(c.dim), scale: scale,
                soft_cap: c.softCap,
                window: Int64(c.window))
            for set in [CK_SET_SCALAR] + fastSets {
                var out = [Float](repeating: 0, count: q.count)
                with(set) {
                    let succeeded = ck_attention(
                        pool.pool, q, Int64(width), tokens, Int64(tokens.count), shape, &out, Int64(width))
                    #expect(succeeded)
                }
                let error = greatestError(out, expected, scale: expected.map { abs($0) + 1 })
                #expect(error < 2e-5, "\(String(cString: ck_set_name(set)))")
            }
        }

        /// Decoding with few heads and a long context, which is cut into ranges of slots.
        @Test(arguments: Case.ofBothTypes([0, 40, 1000].map { Case(heads: 4, kvHeads: 1, dim: 64, window: $0) }))
        func `ranges of slots are put together`(c: Case) {
            var generator = SeededGenerator(state: 22)
            let pool = Pool(threads: 4)
            let cache = Cache(c, slots: 2049, pool: pool, using: &generator)
            let q = generator.floats(4 * 64)
            let scale = Float(0.125)
            let expected = (0..<4).flatMap {
                Self.reference(c, q[$0 * 64..<$0 * 64 + 64], head: $0, position: 2048, cache: cache, scale: scale)
            }
            let shape = ck_attention_shape(
                heads: 4, kv_heads: 1, head_dim: 64, scale: scale, soft_cap: 0, window: Int64(c.window))
            let token = ck_token(cache: cache.cache, position: 2048)
            for set in [CK_SET_SCALAR] + fastSets {
                var out = q  // in place
                with(set) {
                    withUnsafePointer(to: token) { token in
                        out.withUnsafeMutableBufferPointer {
                            #expect(ck_attention(pool.pool, $0.baseAddress, 256, token, 1, shape, $0.baseAddress, 256))
                        }
                    }
                }
                #expect(greatestError(out, expected, scale: expected.map { abs($0) + 1 }) < 2e-5)
            }
        }

        /// To the last bit, over several ranges of slots: an answer must not depend on what else is computed at the same
        /// time, nor on the number of threads.
        @Test(
            arguments: Case.ofBothTypes([
                Case(heads: 12, kvHeads: 2, dim: 128), Case(heads: 4, kvHeads: 1, dim: 64, window: 600),
                Case(heads: 9, kvHeads: 3, dim: 64), Case(heads: 16, kvHeads: 16, dim: 16, softCap: 20),
            ]))
        func `a token gets the same beside any others`(c: Case) {
            var generator = SeededGenerator(state: 31)
            let pools = [1, 2, 4].map { Pool(threads: $0) }
            let slots = 1100
            let cache = Cache(c, slots: slots, pool: pools[0], using: &generator)
            let other = Cache(c, slots: 40, pool: pools[0], using: &generator)
            let width = c.heads * c.dim
            let q = generator.floats(slots * width)
            let shape = ck_attention_shape(
                heads: Int32(c.heads), kv_heads: Int32(c.kvHeads), head_dim: Int32(c.dim), scale: 0.1,
                soft_cap: c.softCap, window: Int64(c.window))
            func attend(_ positions: [Int], beside: Int = 0, _ pool: Pool) -> [Float] {
                let tokens =
                    positions.map { ck_token(cache: cache.cache, position: Int64($0)) }
                    + (0..<beside).map { ck_token(cache: other.cache, position: Int64($0)) }
                let queries = positions.flatMap { q[$0 * width..<($0 + 1) * width] } + q[..<(beside * width)]
                var out = [Float](repeating: 0, count: queries.count)
                let succeeded = ck_attention(
                    pool.pool, queries, Int64(width), tokens, Int64(tokens.count), shape, &out, Int64(width))
                #expect(succeeded)
                return Array(out[..<(positions.count * width)])
            }
            // The plain kernels are slow, and their loops have fewer shapes that could differ.
            let few = [Array(508..<516), [1023, 1024], [511, 900]]
            let many = [Array(500..<530), Array(1020..<1028), Array(0..<100), Array(1000..<1100)]
            for set in [CK_SET_SCALAR] + fastSets {
                with(set) {
                    for positions in set == CK_SET_SCALAR ? few : few + many {
                        let alone = positions.flatMap { attend([$0], pools[0]) }
                        for pool in pools {
                            #expect(attend(positions, pool) == alone, "\(positions)")
                            #expect(attend(positions, beside: 17, pool) == alone, "\(positions)")
                        }
                    }
                }
            }
        }

        @Test(arguments: Case.ofBothTypes([Case(heads: 2, kvHeads: 2, dim: 16), Case(heads: 2, kvHeads: 2, dim: 80)]))
        func `the cache has the documented layout`(c: Case) {
            var generator = SeededGenerator(state: 23)
            let pool = Pool(threads: 2)
            let cache = Cache(c, slots: 19, pool: pool, using: &generator)
            let blocks = Int(cache.cache.pointee.capacity) / 8
            let runs = (c.dim + 31) / 32
            let blockBytes = c.type == CK_Q8_0 ? 8 * (c.dim + 2 * runs) : 16 * c.dim
            #expect(ck_cache_bytes(c.type, 2, Int64(c.dim), Int64(8 * blocks)) == 2 * blocks * blockBytes)
            func number(_ part: UnsafeMutableRawPointer, _ block: Int, _ index: Int, scale: Int) -> Float {
                let data = part + block * blockBytes
                func half(_ index: Int) -> Float {
                    var float: Float = 0
                    ck_f16_to_f32([data.load(fromByteOffset: 2 * index, as: UInt16.self)], &float, 1)
                    return float
                }
                guard c.type == CK_Q8_0 else { return half(index) }
                return half(scale) * Float(data.load(fromByteOffset: 16 * runs + index, as: Int8.self))
            }
            for (slot, head, d) in [(0, 0, 0), (7, 1, 3), (8, 0, 15), (18, 1, 9), (10, 1, c.dim - 1)] {
                let block = head * blocks + slot / 8
                let key = number(cache.cache.pointee.keys, block, d * 8 + slot % 8, scale: d / 32 * 8 + slot % 8)
                let value = number(
                    cache.cache.pointee.values, block, slot % 8 * c.dim + d, scale: slot % 8 * runs + d / 32)
                let index = (slot * 2 + head) * c.dim + d
                #expect([key, value] == [cache.storedKeys[index], cache.values[index]])
            }
        }

        /// With one slot, what a head gets is its value.
        private func stored(_ value: [Float], _ set: ck_instruction_set) -> [Float] {
            let pool = Pool(threads: 1)
            let dim = Int64(value.count)
            let bytes = ck_cache_bytes(CK_Q8_0, 1, dim, 8)
            var cache = ck_cache(keys: ck_allocate(bytes), values: ck_allocate(bytes), capacity: 8, type: CK_Q8_0)
            defer {
                ck_free(cache.keys, bytes)
                ck_free(cache.values, bytes)
            }
            let shape = ck_attention_shape(
                heads: 1, kv_heads: 1, head_dim: Int32(dim), scale: 1, soft_cap: 0, window: 0)
            let nought = [Float](repeating: 0, count: value.count)
            var out = nought
            withUnsafePointer(to: &cache) { pointer in
                let token = [ck_token(cache: pointer, position: 0)]
                ck_cache_store(pool.pool, nought, dim, value, dim, token, 1, 1, Int32(dim))
                with(set) { #expect(ck_attention(pool.pool, nought, dim, token, 1, shape, &out, dim)) }
            }
            return out
        }

        @Test(arguments: [CK_SET_SCALAR] + fastSets)
        func `eight bits keep numbers of any size, each run by itself`(set: ck_instruction_set) {
            var generator = SeededGenerator(state: 24)
            for size in [Float(0.1), 1, 1000, 60_000] {
                // 72 dimensions: two runs of 32 and one of 8, of which the last is a hundredth of the others.
                let value = generator.floats(72).enumerated().map { $1 * size * ($0 < 64 ? 1 : 0.01) }
                let got = stored(value, set)
                for run in [0..<32, 32..<64, 64..<72] {
                    let greatest = value[run].map { abs($0) }.max()!
                    // Half a step, and as much as the scale itself is rounded.
                    for i in run { #expect(abs(got[i] - value[i]) <= greatest * (0.5 / 127 + 1e-3)) }
                    #expect(run.contains { got[$0] != 0 })
                }
            }
            // Less than any scale is nought; next to the least scale nothing is turned round.
            #expect(stored([Float](repeating: 1e-9, count: 32), set) == [Float](repeating: 0, count: 32))
            let small = stored([Float](repeating: 1.1e-5, count: 32), set)
            #expect(small.allSatisfy { $0 > 5e-6 && $0 < 2e-5 })
        }

        /// As a damaged weight leaves them; what is too large for a scale is none either.
        @Test(arguments: [CK_SET_SCALAR] + fastSets, [Float.nan, .infinity, -.infinity, 1e7])
        func `eight bits keep what is no number as none`(set: ck_instruction_set, number: Float) {
            var value = [Float](repeating: 1, count: 64)
            value[40] = number
            let got = stored(value, set)
            #expect(got[..<32].allSatisfy { $0.isFinite })
            #expect(got[32...].allSatisfy { !$0.isFinite })
        }
    }
}
