import CKernels
import Foundation
import Testing

extension Kernels {
    @Suite struct ElementwiseTests {
        static let sizes = [1, 7, 8, 9, 31, 64, 100, 2048, 20_001]

        @Test(arguments: [CK_SET_SCALAR] + fastSets, ElementwiseTests.sizes)
        func `functions of one and two arrays`(set: ck_instruction_set, count: Int) {
            var generator = SeededGenerator(state: UInt64(count))
            let pool = Pool(threads: 2)
            let x = generator.floats(count)
            let y = generator.floats(count)
            let n = Int64(count)
            var results: [String: [Float]] = [:]
            with(set) {
                var out = x
                ck_add(pool.pool, &out, y, n)
                results["add"] = out
                out = x
                ck_scale(pool.pool, &out, 0.37, n)
                results["scale"] = out
                out = x
                ck_soft_cap(pool.pool, &out, 5, n)
                results["cap"] = out
                ck_silu_multiply(pool.pool, x, n, y, n, 1, n, &out, n)
                results["silu"] = out
                ck_gelu_multiply(pool.pool, x, n, y, n, 1, n, &out, n)
                results["gelu"] = out
                ck_rms_norm(pool.pool, x, n, y, 1e-6, 1, n, &out, n)
                results["norm"] = out
                ck_rms_norm(pool.pool, x, n, nil, 1e-6, 1, n, &out, n)
                results["bare norm"] = out
            }
            let wide = x.map(Double.init)
            let factor = 1 / (wide.reduce(0) { $0 + $1 * $1 } / Double(count) + 1e-6).squareRoot()
            let expected: [String: [Double]] = [
                "add": zip(wide, y).map { $0 + Double($1) },
                "scale": wide.map { $0 * Double(Float(0.37)) },
                "cap": wide.map { 5 * tanh($0 / 5) },
                "silu": zip(wide, y).map { $0 / (1 + exp(-$0)) * Double($1) },
                "gelu": zip(wide, y).map {
                    0.5 * $0 * (1 + tanh((2 / Double.pi).squareRoot() * ($0 + 0.044715 * $0 * $0 * $0))) * Double($1)
                },
                "norm": zip(wide, y).map { $0 * factor * Double($1) },
                "bare norm": wide.map { $0 * factor },
            ]
            for (name, values) in expected {
                let error = greatestError(
                    results[name]!, values.map { Float($0) }, scale: values.map { Float(abs($0)) + 0.1 })
                #expect(error < 5e-6, "\(name)")
            }
        }

        @Test(arguments: [CK_SET_SCALAR] + fastSets)
        func `activations stay finite at the ends`(set: ck_instruction_set) {
            let pool = Pool(threads: 1)
            let x: [Float] = [-1e4, -1000, -104, -88, 88, 104, 1000, 1e4, 0]
            let ones = [Float](repeating: 1, count: x.count)
            var silu = x
            var gelu = x
            with(set) {
                ck_silu_multiply(pool.pool, x, 9, ones, 9, 1, 9, &silu, 9)
                ck_gelu_multiply(pool.pool, x, 9, ones, 9, 1, 9, &gelu, 9)
            }
            for (result, name) in [(silu, "silu"), (gelu, "gelu")] {
                for i in 0..<4 { #expect(abs(result[i]) < 1e-30, "\(name)") }
                for i in 4..<8 { #expect(result[i] == x[i], "\(name)") }
                #expect(result[8] == 0)
            }
        }

        @Test(arguments: [CK_SET_SCALAR] + fastSets, ElementwiseTests.sizes)
        func softmax(set: ck_instruction_set, count: Int) {
            var generator = SeededGenerator(state: UInt64(count))
            var x = generator.floats(count)
            let wide = x.map { Double($0 * 0.7) }
            if count > 8 { x[3] = -.infinity }
            let greatest = zip(x, wide).filter { $0.0 > -.infinity }.map(\.1).max()!
            let weights = zip(x, wide).map { $0.0 > -.infinity ? exp($0.1 - greatest) : 0 }
            let total = weights.reduce(0, +)
            let returned = with(set) { ck_softmax(&x, 0.7, Int64(count)) }
            #expect(abs(Double(returned) - greatest) <= abs(greatest) * 1e-6)
            #expect(
                greatestError(x, weights.map { Float($0 / total) }, scale: weights.map { Float($0 / total) + 1e-9 })
                    < 1e-4)
            if count > 8 { #expect(x[3] == 0) }
        }

        @Test(arguments: [CK_SET_SCALAR] + fastSets, [CK_ROPE_HALVES, CK_ROPE_NEIGHBOURS])
        func `rotation of part of a head`(set: ck_instruction_set, style: ck_rope_style) {
            var generator = SeededGenerator(state: 4)
            let pool = Pool(threads: 2)
            for (dim, pairs) in [(64, 32), (80, 36), (128, 64), (16, 3)] {
                let (tokens, heads) = (5, 3)
                let frequencies = (0..<pairs).map { Float(pow(10_000, -Double($0) / Double(pairs))) }
                let positions: [Int32] = [0, 1, 2, 77, 500]
                var table = [Float](repeating: 0, count: tokens * pairs * 2)
                ck_rope_table(positions, Int64(tokens), frequencies, Int32(pairs), 1.25, &table)
                let x = generator.floats(tokens * heads * dim)
                var expected = x
                for t in 0..<tokens {
                    for h in 0..<heads {
                        let base = (t * heads + h) * dim
                        for i in 0..<pairs {
                            let angle = Double(Float(positions[t]) * frequencies[i])
                            let a = style == CK_ROPE_HALVES ? base + i : base + 2 * i
                            let b = style == CK_ROPE_HALVES ? base + i + pairs : base + 2 * i + 1
                            expected[a] = Float(1.25 * (Double(x[a]) * cos(angle) - Double(x[b]) * sin(angle)))
                            expected[b] = Float(1.25 * (Double(x[a]) * sin(angle) + Double(x[b]) * cos(angle)))
                        }
                    }
                }
                var rotated = x
                with(set) {
                    ck_rope(
                        pool.pool, &rotated, Int64(heads * dim), Int64(tokens), Int32(heads), Int32(dim), table,
                        Int32(pairs),
                        style)
                }
                #expect(
                    greatestError(rotated, expected, scale: expected.map { abs($0) + 1 }) < 1e-5, "\(dim), \(pairs)")
            }
        }

        @Test(arguments: [CK_SET_SCALAR] + fastSets, ElementwiseTests.sizes)
        func `the greatest elements`(set: ck_instruction_set, count: Int) {
            var generator = SeededGenerator(state: UInt64(count))
            var x = generator.floats(count).map { ($0 * 4).rounded() }  // many equal ones
            if count > 8 { x[count / 2] = .nan }
            let order = x.indices.filter { !x[$0].isNaN }.sorted { (-x[$0], $0) < (-x[$1], $1) }
            with(set) {
                #expect(ck_argmax(x, Int64(count)) == Int64(order[0]))
                for k in [1, 3, 40, count + 5] {
                    var top = [Int32](repeating: -1, count: k)
                    let found = ck_top_k(x, Int64(count), Int64(k), &top)
                    #expect(top.prefix(Int(found)).map { Int($0) } == Array(order.prefix(k)))
                }
                #expect(ck_argmax(x, 0) == -1)
                #expect(ck_argmax([Float.nan, .nan], 2) == -1)
                #expect(ck_argmax([-Float.infinity, .nan], 2) == 0)
            }
        }

        @Test func `a mask takes the others out`() {
            let x = (0..<131).map { Float($0) }
            var masked = x
            ck_mask(&masked, [UInt64.max, 0x8000_0000_0000_0001, 0b101], 131)
            for i in 0..<131 {
                #expect(masked[i] == (i < 64 || [64, 127, 128, 130].contains(i) ? x[i] : -.infinity))
            }
        }
    }
}
