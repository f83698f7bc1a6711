import CKernels
import Foundation
import Testing

extension Kernels {
    /// What encoders alone use.
    @Suite struct EncoderTests {
        /// Lengths on both sides of what kernels take at once.
        @Test(arguments: [1, 7, 8, 9, 64, 65, 150, 600])
        func `every token sees all slots, and no other`(length: Int) {
            var generator = SeededGenerator(state: UInt64(length))
            let c = AttentionTests.Case(heads: 4, kvHeads: 2, dim: 24)
            let pool = Pool(threads: 2)
            // The cache has more slots than the text.
            let cache = AttentionTests.Cache(c, slots: length + 5, pool: pool, using: &generator)
            let tokens = (0..<length).map { ck_token(cache: cache.cache, position: Int64($0)) }
            let width = c.heads * c.dim
            let q = generator.floats(length * width)
            let scale = 1 / Float(c.dim).squareRoot()
            var expected: [Float] = []
            for token in 0..<length {
                for head in 0..<c.heads {
                    let start = token * width + head * c.dim
                    expected += AttentionTests.reference(
                        c, q[start..<start + c.dim], head: head, position: length - 1, cache: cache, scale: scale)
                }
            }
            let shape = ck_attention_shape(
                heads: Int32(c.heads), kv_heads: Int32(c.kvHeads), head_dim: Int32(c.dim), scale: scale, soft_cap: 0,
                window: 3)
            for set in [CK_SET_SCALAR] + fastSets {
                var out = [Float](repeating: 0, count: q.count)
                with(set) {
                    let succeeded = ck_attention_to_all(
                        pool.pool, q, Int64(width), tokens, Int64(length), Int64(length), shape, &out, Int64(width))
                    #expect(succeeded)
                }
                let error = greatestError(out, expected, scale: expected.map { abs($0) + 1 })
                #expect(error < 2e-5, "\(String(cString: ck_set_name(set)))")
            }
        }

        @Test(arguments: [(1, 8), (3, 768), (40, 33)])
        func `the layer norm takes mean and variance away`(rows: Int, width: Int) {
            var generator = SeededGenerator(state: 5)
            let pool = Pool(threads: 2)
            let (stride, outStride) = (width + 3, width + 1)
            let x = generator.floats(rows * stride).map { $0 + 7 }
            let (weight, bias) = (generator.floats(width), generator.floats(width))
            var out = [Float](repeating: -1, count: rows * outStride)
            ck_layer_norm(
                pool.pool, x, Int64(stride), weight, bias, 1e-12, Int64(rows), Int64(width), &out, Int64(outStride))
            for row in 0..<rows {
                let numbers = x[row * stride..<row * stride + width].map(Double.init)
                let mean = numbers.reduce(0, +) / Double(width)
                let variance = numbers.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(width)
                let expected = numbers.enumerated().map {
                    Float(($1 - mean) / (variance + 1e-12).squareRoot() * Double(weight[$0]) + Double(bias[$0]))
                }
                let got = Array(out[row * outStride..<row * outStride + width])
                #expect(greatestError(got, expected, scale: expected.map { abs($0) + 1 }) < 1e-5)
                // What lies between the rows stays.
                #expect(out[row * outStride + width] == -1)
            }
        }
    }
}
