import CKernels
import Testing

extension Kernels {
    /// What is no number stays none, so that the end of a computation shows it.
    @Suite struct NotANumberTests {
        @Test(arguments: allTypes, [Float.nan, .infinity, -.infinity])
        func `a product with one is none`(type: ck_type, number: Float) {
            var generator = SeededGenerator(state: 5)
            let pool = Pool(threads: 1)
            let (rows, cols) = (16, 512)
            for fine in [false, true] {
                let matrix = TestMatrix(type, rows: rows, cols: cols, fine: fine, using: &generator)
                for tokens in [1, 6] {
                    var x = generator.floats(tokens * cols)
                    x[(tokens - 1) * cols + 301] = number
                    for set in [CK_SET_SCALAR] + fastSets {
                        var y = [Float](repeating: 0, count: tokens * rows)
                        with(set) {
                            withUnsafePointer(to: matrix.matrix) { matrix in
                                y.withUnsafeMutableBufferPointer { y in
                                    var product = ck_product(
                                        matrix: matrix, y: y.baseAddress, y_stride: Int64(rows), bias: nil,
                                        accumulates: false)
                                    #expect(ck_matmul(pool.pool, x, Int64(cols), Int64(tokens), &product, 1))
                                }
                            }
                        }
                        // Of all rows but those that have nought there.
                        let wrong = y[((tokens - 1) * rows)...].count { !$0.isFinite }
                        #expect(wrong >= rows / 2, "\(String(cString: ck_set_name(set))), fine: \(fine)")
                        #expect(y[..<((tokens - 1) * rows)].allSatisfy { $0.isFinite })
                    }
                }
            }
        }

        @Test(arguments: [CK_SET_SCALAR] + fastSets)
        func `a norm of one is none, and so is one that overflows`(set: ck_instruction_set) {
            let pool = Pool(threads: 1)
            for number in [Float.nan, .infinity, -.greatestFiniteMagnitude] {
                var x = [Float](repeating: 1, count: 100)
                x[77] = number
                var out = x
                with(set) { ck_rms_norm(pool.pool, x, 100, nil, 1e-6, 1, 100, &out, 100) }
                #expect(!ck_all_finite(out, 100), "\(number)")
            }
        }

        @Test(arguments: [1, 20, 1100], [CK_F16, CK_Q8_0])
        func `attention of one is none`(slots: Int, type: ck_type) {
            var generator = SeededGenerator(state: 8)
            let pool = Pool(threads: 1)
            let c = AttentionTests.Case(heads: 2, kvHeads: 1, dim: 32, type: type)
            let cache = AttentionTests.Cache(c, slots: slots, pool: pool, using: &generator)
            let shape = ck_attention_shape(
                heads: 2, kv_heads: 1, head_dim: 32, scale: 0.1, soft_cap: 0, window: 0)
            let token = [ck_token(cache: cache.cache, position: Int64(slots - 1))]
            for set in [CK_SET_SCALAR] + fastSets {
                var q = generator.floats(64)
                q[5] = .nan
                var out = [Float](repeating: 0, count: 64)
                with(set) { #expect(ck_attention(pool.pool, q, 64, token, 1, shape, &out, 64)) }
                // One head's; the other's is sound.
                #expect(out[..<32].allSatisfy { $0.isNaN }, "\(String(cString: ck_set_name(set)))")
                #expect(out[32...].allSatisfy { $0.isFinite })
            }
        }

        @Test(arguments: [0, 1, 7, 8, 9, 100, 20_001]) func `all finite`(count: Int) {
            var x = [Float](repeating: -.greatestFiniteMagnitude, count: count)
            #expect(ck_all_finite(x, Int64(count)))
            guard count > 0 else { return }
            for index in Set([0, count / 2, count - 1]) {
                for number in [Float.nan, -.nan, .infinity, -.infinity, .signalingNaN] {
                    let sound = x[index]
                    x[index] = number
                    #expect(!ck_all_finite(x, Int64(count)))
                    x[index] = sound
                }
            }
        }
    }
}
