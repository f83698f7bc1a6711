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
            var testDescription: String { "\(heads)/\(kvHeads) heads of \(dim), window \(window), cap \(softCap)" }
        }

        /// One sequence's cache and the numbers that were stored, as half precision keeps them.
        final class Cache {
            let cache: UnsafeMutablePointer<ck_cache>
            let keys: [Float]  // [slots, kvHeads, dim]
            let values: [Float]
            private let elements: Int

            init(_ c: Case, slots: Int, pool: Pool, using generator: inout SeededGenerator) {
                let capacity = (slots + 20) / 8 * 8
                let elements = ck_cache_elements(Int64(c.kvHeads), Int64(c.dim), Int64(capacity))
                guard let keys = ck_allocate(2 * elements), let values = ck_allocate(2 * elements) else {
                    fatalError("no memory")
                }
                let cache = UnsafeMutablePointer<ck_cache>.allocate(capacity: 1)
                cache.initialize(
                    to: ck_cache(
                        keys: keys.assumingMemoryBound(to: UInt16.self),
                        values: values.assumingMemoryBound(to: UInt16.self),
                        capacity: Int64(capacity)))
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
                func halved(_ x: [Float]) -> [Float] {
                    var halves = [UInt16](repeating: 0, count: x.count)
                    var back = x
                    ck_f32_to_f16(x, &halves, Int64(x.count))
                    ck_f16_to_f32(halves, &back, Int64(x.count))
                    return back
                }
                (self.cache, self.elements) = (cache, elements)
                (self.keys, self.values) = (halved(k), halved(v))
            }

            deinit {
                ck_free(cache.pointee.keys, 2 * elements)
                ck_free(cache.pointee.values, 2 * elements)
                cache.deallocate()
            }
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

        static let cases = [
            Case(heads: 9, kvHeads: 3, dim: 64), Case(heads: 4, kvHeads: 1, dim: 256, window: 24),
            Case(heads: 12, kvHeads: 2, dim: 128), Case(heads: 14, kvHeads: 2, dim: 64, window: 1),
            Case(heads: 2, kvHeads: 2, dim: 80, softCap: 20), Case(heads: 3, kvHeads: 3, dim: 96, window: 70),
            Case(heads: 5, kvHeads: 1, dim: 8), Case(heads: 72, kvHeads: 1, dim: 40, softCap: 5),
        ]

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
        @Test(arguments: [0, 40, 1000])
        func `ranges of slots are put together`(window: Int) {
            var generator = SeededGenerator(state: 22)
            let c = Case(heads: 4, kvHeads: 1, dim: 64, window: window)
            let pool = Pool(threads: 4)
            let cache = Cache(c, slots: 2049, pool: pool, using: &generator)
            let q = generator.floats(4 * 64)
            let scale = Float(0.125)
            let expected = (0..<4).flatMap {
                Self.reference(c, q[$0 * 64..<$0 * 64 + 64], head: $0, position: 2048, cache: cache, scale: scale)
            }
            let shape = ck_attention_shape(
                heads: 4, kv_heads: 1, head_dim: 64, scale: scale, soft_cap: 0, window: Int64(window))
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
        @Test(arguments: [
            Case(heads: 12, kvHeads: 2, dim: 128), Case(heads: 4, kvHeads: 1, dim: 64, window: 600),
            Case(heads: 9, kvHeads: 3, dim: 64), Case(heads: 16, kvHeads: 16, dim: 16, softCap: 20),
        ])
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

        @Test func `the cache has the documented layout`() {
            var generator = SeededGenerator(state: 23)
            let c = Case(heads: 2, kvHeads: 2, dim: 16)
            let pool = Pool(threads: 2)
            let cache = Cache(c, slots: 19, pool: pool, using: &generator)
            let capacity = Int(cache.cache.pointee.capacity)
            for (slot, head, d) in [(0, 0, 0), (7, 1, 3), (8, 0, 15), (18, 1, 9)] {
                let key = cache.cache.pointee.keys[((head * (capacity / 8) + slot / 8) * 16 + d) * 8 + slot % 8]
                let value = cache.cache.pointee.values[(head * capacity + slot) * 16 + d]
                var floats: [Float] = [0, 0]
                ck_f16_to_f32([key, value], &floats, 2)
                let index = (slot * 2 + head) * 16 + d
                #expect(floats == [cache.keys[index], cache.values[index]])
            }
        }
    }
}
