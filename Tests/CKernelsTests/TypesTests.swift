import CKernels
import Foundation
import Testing

extension Kernels {
    @Suite struct TypesTests {
        @Test(arguments: blockFixtures.indices)
        func `floats are the reference's to the bit`(index: Int) throws {
            let fixture = blockFixtures[index]
            let type = ck_type(rawValue: fixture.type)
            let bytes = [UInt8](try #require(Data(base64Encoded: fixture.blocks)))
            let count = bytes.count / Int(ck_type_block_bytes(type)) * Int(ck_type_block_size(type))
            for set in [CK_SET_SCALAR] + fastSets {
                var values = [Float](repeating: 0, count: count)
                with(set) { bytes.withUnsafeBytes { ck_dequantize(type, $0.baseAddress, &values, Int64(count)) } }
                var hash: UInt64 = 0xCBF2_9CE4_8422_2325
                values.withUnsafeBytes { for byte in $0 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 } }
                #expect(hash == fixture.hash, "\(type.testDescription)")
            }
        }

        @Test func `only the types of the list are known`() {
            let known = (0..<200).filter { ck_type_is_known(UInt32($0)) }
            #expect(known == allTypes.map { Int($0.rawValue) }.sorted())
        }

        @Test(arguments: fastSets)
        func `half precision rounds like the plain way`(set: ck_instruction_set) {
            // Every half and the two floats around the middle between it and the next.
            var numbers: [Float] = []
            for bits in UInt16.min...UInt16.max {
                var value: Float = 0
                with(CK_SET_SCALAR) { withUnsafePointer(to: bits) { ck_f16_to_f32($0, &value, 1) } }
                guard !value.isNaN else { continue }
                let pattern = value.bitPattern
                numbers += [value, Float(bitPattern: pattern | 0xFFF), Float(bitPattern: pattern | 0x1000)]
                numbers.append(Float(bitPattern: pattern | 0x1001))
            }
            numbers += [1e-8, 5.96e-8, 2.98e-8, 2.9802322e-8, 2.9802326e-8, 65519, 65520, 1e30, -1e30, .infinity]
            numbers.removeAll { $0.isNaN }
            var halves = [[UInt16]](repeating: .init(repeating: 0, count: numbers.count), count: 2)
            var floats = [[Float]](repeating: .init(repeating: 0, count: numbers.count), count: 2)
            for (i, set) in [CK_SET_SCALAR, set].enumerated() {
                with(set) {
                    ck_f32_to_f16(numbers, &halves[i], Int64(numbers.count))
                    ck_f16_to_f32(halves[i], &floats[i], Int64(numbers.count))
                }
            }
            #expect(halves[0] == halves[1])
            #expect(floats[0] == floats[1])
        }

        @Test(arguments: allTypes)
        func `a prepared matrix gives its rows back`(type: ck_type) {
            var generator = SeededGenerator(state: 11)
            for rows in [1, 7, 8, 9, 24, 37] {
                let cols = 256 * 2
                let matrix = TestMatrix(type, rows: rows, cols: cols, using: &generator)
                var row = [Float](repeating: 0, count: cols)
                for r in 0..<rows {
                    withUnsafePointer(to: matrix.matrix) { ck_matrix_row($0, Int64(r), &row) }
                    #expect(row == Array(matrix.values[r * cols..<(r + 1) * cols]))
                }
                // In place, and in two parts.
                let rowBytes = ck_row_bytes(type, Int64(cols))
                var inPlace = matrix.file
                let first = rows / 16 * 8
                inPlace.withUnsafeMutableBytes { bytes in
                    let start = bytes.baseAddress!
                    #expect(ck_pack(type, start, start, Int64(first), Int64(cols)))
                    let rest = start + first * rowBytes
                    #expect(ck_pack(type, rest, rest, Int64(rows - first), Int64(cols)))
                    #expect(memcmp(start, matrix.matrix.data, bytes.count) == 0)
                }
            }
        }

        @Test func `embedding gathers and scales`() {
            var generator = SeededGenerator(state: 5)
            let pool = Pool(threads: 2)
            for type in [CK_Q6_K, CK_Q8_0, CK_F16] {
                let matrix = TestMatrix(type, rows: 21, cols: 256, using: &generator)
                let rows: [Int32] = [20, 0, 7, 8, 20, 15]
                var gathered = [Float](repeating: 0, count: rows.count * 256)
                withUnsafePointer(to: matrix.matrix) {
                    ck_embed(pool.pool, $0, rows, Int64(rows.count), 1.5, &gathered)
                }
                let expected = rows.flatMap { row in matrix.values[Int(row) * 256..<Int(row + 1) * 256].map { $0 * 1.5 }
                }
                #expect(gathered == expected)
            }
        }
    }
}
