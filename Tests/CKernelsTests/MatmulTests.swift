import CKernels
import Testing

extension Kernels {
    @Suite struct MatmulTests {
        /// Activations as the rounding to 8 or 15 bits in blocks of 32 makes them.
        static func rounded(_ x: [Float], fine: Bool) -> [Float] {
            let limit: Float = fine ? 16383 : 127
            var result = x
            for start in stride(from: 0, to: x.count, by: 32) {
                let greatest = x[start..<start + 32].map { abs($0) }.max()!
                guard greatest > 0 else { continue }
                for i in start..<start + 32 {
                    result[i] = (x[i] * (limit / greatest)).rounded(.toNearestOrEven) * (greatest / limit)
                }
            }
            return result
        }

        /// `x · Wᵀ` and the sum of magnitudes, in double.
        static func reference(_ x: [Float], _ w: [Float], tokens: Int, rows: Int, cols: Int) -> (
            y: [Float], scale: [Float]
        ) {
            var y: [Float] = []
            var scale: [Float] = []
            for t in 0..<tokens {
                for r in 0..<rows {
                    var sum = 0.0
                    var magnitude = 0.0
                    for c in 0..<cols {
                        let product = Double(x[t * cols + c]) * Double(w[r * cols + c])
                        sum += product
                        magnitude += abs(product)
                    }
                    y.append(Float(sum))
                    scale.append(Float(magnitude))
                }
            }
            return (y, scale)
        }

        @Test(arguments: allTypes, [1, 2, 3, 4, 5, 8, 11, 33, 70])
        func `every set multiplies right`(type: ck_type, tokens: Int) {
            var generator = SeededGenerator(state: UInt64(tokens))
            let pool = Pool(threads: 2)
            for (rows, cols, fine) in [
                (8, 256, false), (5, 256, true), (43, 512, false), (43, 512, true), (144, 768, true),
            ] {
                let matrix = TestMatrix(type, rows: rows, cols: cols, fine: fine, using: &generator)
                let x = generator.floats(tokens * cols)
                let bias = generator.floats(rows)
                let rounds = roundingTypes.contains(type)
                var (expected, scale) = Self.reference(
                    rounds ? Self.rounded(x, fine: fine) : x, matrix.values, tokens: tokens, rows: rows, cols: cols)
                for i in expected.indices {
                    expected[i] += bias[i % rows] + 3
                    scale[i] += abs(bias[i % rows]) + 3
                }
                for set in [CK_SET_SCALAR] + fastSets {
                    var y = [Float](repeating: 3, count: tokens * rows)
                    with(set) {
                        withUnsafePointer(to: matrix.matrix) { matrix in
                            y.withUnsafeMutableBufferPointer { y in
                                bias.withUnsafeBufferPointer { bias in
                                    var product = ck_product(
                                        matrix: matrix, y: y.baseAddress, y_stride: Int64(rows), bias: bias.baseAddress,
                                        accumulates: true)
                                    let succeeded = ck_matmul(pool.pool, x, Int64(cols), Int64(tokens), &product, 1)
                                    #expect(succeeded)
                                }
                            }
                        }
                    }
                    let error = greatestError(y, expected, scale: scale)
                    #expect(error < 3e-6, "\(rows)×\(cols), fine: \(fine), \(String(cString: ck_set_name(set)))")
                }
            }
        }

        /// To the last bit: an answer must not depend on what else is computed at the same time.
        @Test(arguments: allTypes)
        func `a token gets the same beside any others`(type: ck_type) {
            var generator = SeededGenerator(state: 77)
            let most = 70
            for (rows, cols, fine) in [(43, 512, false), (144, 768, false), (43, 512, true), (144, 768, true)] {
                let matrix = TestMatrix(type, rows: rows, cols: cols, fine: fine, using: &generator)
                let x = generator.floats(most * cols)
                let bias = generator.floats(rows)
                let residual = generator.floats(most * rows)
                for set in [CK_SET_SCALAR] + fastSets {
                    func multiply(_ range: Range<Int>, threads: Int32) -> [Float] {
                        let pool = Pool(threads: threads)
                        var y = Array(residual[range.lowerBound * rows..<range.upperBound * rows])
                        with(set) {
                            withUnsafePointer(to: matrix.matrix) { matrix in
                                y.withUnsafeMutableBufferPointer { y in
                                    bias.withUnsafeBufferPointer { bias in
                                        x[(range.lowerBound * cols)...].withUnsafeBufferPointer { x in
                                            var product = ck_product(
                                                matrix: matrix, y: y.baseAddress, y_stride: Int64(rows),
                                                bias: bias.baseAddress, accumulates: true)
                                            let succeeded = ck_matmul(
                                                pool.pool, x.baseAddress, Int64(cols), Int64(range.count), &product, 1)
                                            #expect(succeeded)
                                        }
                                    }
                                }
                            }
                        }
                        return y
                    }
                    let alone = (0..<most).flatMap { multiply($0..<$0 + 1, threads: 1) }
                    for (count, threads) in [(2, 1), (3, 2), (4, 1), (5, 2), (7, 1), (17, 1), (33, 2), (70, 2)]
                        as [(Int, Int32)]
                    {
                        let first = most - count
                        let together = multiply(first..<most, threads: threads)
                        #expect(together == Array(alone[(first * rows)...]), "\(count) tokens, fine: \(fine)")
                    }
                }
            }
        }

        /// Columns that are a multiple of 32 but not of 256, strides, pointers off any boundary, several products at once.
        @Test(arguments: [CK_SET_SCALAR] + fastSets)
        func `several products share an input`(set: ck_instruction_set) {
            var generator = SeededGenerator(state: 3)
            let pool = Pool(threads: 3)
            let types = [
                CK_Q4_0, CK_Q4_1, CK_Q5_0, CK_Q5_1, CK_Q8_0, CK_IQ4_NL, CK_F16, CK_BF16, CK_F32, CK_Q4_0, CK_Q8_0,
            ]
            let fine = types.indices.map { $0 % 3 == 0 }
            for tokens in [1, 3, 6, 19] {
                let cols = 32 * 19
                let matrices = types.enumerated().map {
                    TestMatrix($1, rows: 8 * $0 + 11, cols: cols, fine: fine[$0], using: &generator)
                }
                let stride = cols + 3
                let x = generator.floats(1 + tokens * stride)
                let compact = (0..<tokens).flatMap { x[1 + $0 * stride..<1 + $0 * stride + cols] }
                let outputs = matrices.map { matrix in
                    let buffer = UnsafeMutableBufferPointer<Float>.allocate(
                        capacity: 1 + tokens * (Int(matrix.matrix.rows) + 5))
                    buffer.initialize(repeating: .nan)
                    return buffer
                }
                defer { for output in outputs { output.deallocate() } }
                with(set) {
                    let structs = UnsafeMutablePointer<ck_matrix>.allocate(capacity: types.count)
                    defer { structs.deallocate() }
                    for i in types.indices { (structs + i).initialize(to: matrices[i].matrix) }
                    let products = types.indices.map { i in
                        ck_product(
                            matrix: structs + i, y: outputs[i].baseAddress! + 1, y_stride: structs[i].rows + 5,
                            bias: nil,
                            accumulates: false)
                    }
                    x.withUnsafeBufferPointer {
                        #expect(
                            ck_matmul(
                                pool.pool, $0.baseAddress! + 1, Int64(stride), Int64(tokens), products,
                                Int32(types.count)))
                    }
                }
                for (i, type) in types.enumerated() {
                    let rows = Int(matrices[i].matrix.rows)
                    let rounds = roundingTypes.contains(type)
                    let (expected, scale) = Self.reference(
                        rounds ? Self.rounded(compact, fine: fine[i]) : compact, matrices[i].values, tokens: tokens,
                        rows: rows,
                        cols: cols)
                    let y = (0..<tokens).flatMap { token -> [Float] in
                        let start = 1 + token * (rows + 5)
                        return Array(outputs[i][start..<start + rows])
                    }
                    #expect(greatestError(y, expected, scale: scale) < 3e-6, "\(type.testDescription)")
                    // Nothing else was touched.
                    #expect(outputs[i].filter { $0.isNaN }.count == 1 + tokens * 5)
                }
            }
        }

        @Test(arguments: [CK_SET_SCALAR] + fastSets)
        func `some rows are those of the whole product`(set: ck_instruction_set) {
            var generator = SeededGenerator(state: 8)
            let pool = Pool(threads: 2)
            for (type, fine) in allTypes.flatMap({ [($0, false), ($0, true)] }) {
                let matrix = TestMatrix(type, rows: 203, cols: 512, fine: fine, using: &generator)
                let x = generator.floats(512)
                let bias = generator.floats(203)
                let rows: [Int32] = [0, 1, 9, 8, 100, 101, 150, 199, 200, 202, 3]
                var few = [Float](repeating: 0, count: rows.count)
                var all = [Float](repeating: 0, count: 203)
                with(set) {
                    withUnsafePointer(to: matrix.matrix) { matrix in
                        let succeeded = ck_matmul_rows(pool.pool, x, matrix, bias, rows, Int64(rows.count), &few)
                        #expect(succeeded)
                        all.withUnsafeMutableBufferPointer { all in
                            bias.withUnsafeBufferPointer { bias in
                                var product = ck_product(
                                    matrix: matrix, y: all.baseAddress, y_stride: 203, bias: bias.baseAddress,
                                    accumulates: false)
                                let succeeded = ck_matmul(pool.pool, x, 512, 1, &product, 1)
                                #expect(succeeded)
                            }
                        }
                    }
                }
                #expect(few == rows.map { all[Int($0)] }, "\(type.testDescription), fine: \(fine)")
            }
        }

        /// The greatest weights and activations there are, all of one sign: where 16 bits would overflow.
        @Test(arguments: roundingTypes, [1, 2, 4, 9, 19])
        func `extreme values do not overflow`(type: ck_type, tokens: Int) {
            let pool = Pool(threads: 1)
            var generator = SeededGenerator(state: 1)
            let cols = 512
            for byte in [UInt8(0x00), 0x7F, 0x80, 0xFF, 0x88] {
                let template = TestMatrix(type, rows: 8, cols: cols, using: &generator)
                let bytes = Int(ck_type_block_bytes(type))
                var file = template.file
                for i in file.indices {
                    // Scales stay what they are.
                    let isHalf: Bool =
                        switch (type, i % bytes) {
                        case (CK_Q2_K, 80...), (CK_Q3_K, 108...), (CK_Q6_K, 208...): true
                        case (CK_Q2_K, _), (CK_Q3_K, _), (CK_Q6_K, _): false
                        case (CK_Q4_1, ..<4), (CK_Q5_1, ..<4), (CK_Q4_K, ..<4), (CK_Q5_K, ..<4): true
                        case (_, ..<2): true
                        default: false
                        }
                    if !isHalf { file[i] = byte }
                }
                var values = [Float](repeating: 0, count: 8 * cols)
                var packed = file
                packed.withUnsafeMutableBytes { packed in
                    file.withUnsafeBytes {
                        ck_dequantize(type, $0.baseAddress, &values, Int64(8 * cols))
                        #expect(ck_pack(type, $0.baseAddress, packed.baseAddress, 8, Int64(cols)))
                    }
                    for (sign, fine): (Float, Bool) in [(1, false), (-1, false), (1, true), (-1, true)] {
                        let x = [Float](repeating: sign * 100, count: tokens * cols)
                        let (expected, scale) = Self.reference(
                            Self.rounded(x, fine: fine), values, tokens: tokens, rows: 8, cols: cols)
                        for set in fastSets {
                            var y = [Float](repeating: 0, count: tokens * 8)
                            with(set) {
                                y.withUnsafeMutableBufferPointer { y in
                                    var matrix = ck_matrix(
                                        type: type, rows: 8, cols: Int64(cols), data: packed.baseAddress, fine: fine)
                                    withUnsafePointer(to: &matrix) {
                                        var product = ck_product(
                                            matrix: $0, y: y.baseAddress, y_stride: 8, bias: nil, accumulates: false)
                                        let succeeded = ck_matmul(pool.pool, x, Int64(cols), Int64(tokens), &product, 1)
                                        #expect(succeeded)
                                    }
                                }
                            }
                            #expect(
                                greatestError(y, expected, scale: scale) < 2e-6,
                                "byte \(byte), sign \(sign), fine: \(fine)")
                        }
                    }
                }
            }
        }

        @Test(arguments: [CK_SET_SCALAR] + fastSets, [false, true])
        func `blocks of zeros and subnormals do no harm to others`(set: ck_instruction_set, fine: Bool) {
            var generator = SeededGenerator(state: 2)
            let pool = Pool(threads: 1)
            let matrix = TestMatrix(CK_Q4_0, rows: 8, cols: 128, fine: fine, using: &generator)
            var x = [Float](repeating: 0, count: 128)
            for i in 0..<32 { x[i] = 714 * Float.leastNonzeroMagnitude }
            for i in 32..<64 { x[i] = Float(i) }
            var y = [Float](repeating: 0, count: 8)
            with(set) {
                withUnsafePointer(to: matrix.matrix) { matrix in
                    let succeeded = ck_matmul_rows(pool.pool, x, matrix, nil, [0, 1, 2, 3, 4, 5, 6, 7], 8, &y)
                    #expect(succeeded)
                }
            }
            // What is below the smallest scale counts as nought.
            let counted = [Float](repeating: 0, count: 32) + Self.rounded(Array(x[32...]), fine: fine)
            let (expected, scale) = Self.reference(counted, matrix.values, tokens: 1, rows: 8, cols: 128)
            #expect(greatestError(y, expected, scale: scale) < 3e-6)
        }
    }
}
