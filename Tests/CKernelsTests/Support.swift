import CKernels
import Foundation
import Testing

/// SplitMix64 (Steele, Lea, Flood 2014): the same numbers in every run.
struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// Roughly normal, and a hundredth of them 20 times as large, as activations have it.
    mutating func floats(_ count: Int) -> [Float] {
        (0..<count).map { _ in
            var sum: Float = -6
            for _ in 0..<12 { sum += Float.random(in: 0...1, using: &self) }
            return Int.random(in: 0..<100, using: &self) == 0 ? 20 * sum : sum
        }
    }
}

let allTypes: [ck_type] = [
    CK_F32, CK_F16, CK_BF16, CK_Q4_0, CK_Q4_1, CK_Q5_0, CK_Q5_1, CK_Q8_0, CK_Q2_K, CK_Q3_K, CK_Q4_K, CK_Q5_K, CK_Q6_K,
    CK_IQ4_NL, CK_IQ4_XS,
]

let roundingTypes = allTypes.filter { ![CK_F32, CK_F16, CK_BF16].contains($0) }

extension ck_type: @retroactive CustomTestStringConvertible {
    public var testDescription: String { String(cString: ck_type_name(self)) }
}

/// The sets other than the plain one that this processor runs.
let fastSets = [CK_SET_AVX2, CK_SET_NEON, CK_SET_AVXVNNI, CK_SET_AVX512VNNI].filter { ck_supports($0) }

/// Random blocks whose scales are ordinary numbers.
func randomBlocks(_ type: ck_type, count: Int, using generator: inout SeededGenerator) -> [UInt8] {
    if ck_type_block_size(type) == 1 {
        return generator.floats(count).flatMap { value -> [UInt8] in
            switch type {
            case CK_F16:
                var half: UInt16 = 0
                withUnsafePointer(to: value) { ck_f32_to_f16($0, &half, 1) }
                return withUnsafeBytes(of: half.littleEndian, Array.init)
            case CK_BF16: return withUnsafeBytes(of: UInt16(truncatingIfNeeded: value.bitPattern >> 16), Array.init)
            default: return withUnsafeBytes(of: value, Array.init)
            }
        }
    }
    let halfOffsets: [Int] =
        switch type {
        case CK_Q4_1, CK_Q5_1, CK_Q4_K, CK_Q5_K: [0, 2]
        case CK_Q2_K: [80, 82]
        case CK_Q3_K: [108]
        case CK_Q6_K: [208]
        default: [0]
        }
    let bytes = Int(ck_type_block_bytes(type))
    var blocks = (0..<count * bytes).map { _ in UInt8.random(in: 0...255, using: &generator) }
    for block in 0..<count {
        for offset in halfOffsets {
            var half: UInt16 = 0
            let scale = Float.random(in: -0.1...0.1, using: &generator)
            withUnsafePointer(to: scale) { ck_f32_to_f16($0, &half, 1) }
            blocks[block * bytes + offset] = UInt8(half & 255)
            blocks[block * bytes + offset + 1] = UInt8(half >> 8)
        }
    }
    return blocks
}

/// A prepared matrix with the floats that it stands for.
final class TestMatrix {
    let matrix: ck_matrix
    let values: [Float]  // [rows, cols]
    let file: [UInt8]
    private let memory: UnsafeMutableRawPointer
    private let bytes: Int

    init(_ type: ck_type, rows: Int, cols: Int, fine: Bool = false, using generator: inout SeededGenerator) {
        let blocks = rows * cols / Int(ck_type_block_size(type))
        let file = randomBlocks(type, count: blocks, using: &generator)
        let bytes = ck_matrix_bytes(type, Int64(rows), Int64(cols))
        guard let memory = ck_allocate(bytes) else { fatalError("no memory") }
        var values = [Float](repeating: 0, count: rows * cols)
        file.withUnsafeBytes {
            ck_dequantize(type, $0.baseAddress, &values, Int64(rows * cols))
            precondition(ck_pack(type, $0.baseAddress, memory, Int64(rows), Int64(cols)))
        }
        (self.file, self.bytes, self.memory, self.values) = (file, bytes, memory, values)
        matrix = ck_matrix(type: type, rows: Int64(rows), cols: Int64(cols), data: memory, fine: fine)
    }

    deinit { ck_free(memory, bytes) }
}

final class Pool: @unchecked Sendable {
    let pool: OpaquePointer

    init(threads: Int32) { pool = ck_pool_create(threads)! }

    deinit { ck_pool_destroy(pool) }
}

/// Runs `body` with one instruction set chosen. Tests that do so are children of one serialized suite.
func with<Result>(_ set: ck_instruction_set, _ body: () throws -> Result) rethrows -> Result {
    let before = ck_selected()
    precondition(ck_select(set))
    defer { ck_select(before) }
    return try body()
}

/// The greatest difference, each relative to `scale` at its place.
func greatestError(_ a: [Float], _ b: [Float], scale: [Float]) -> Float {
    var greatest: Float = 0
    for i in a.indices {
        let error = abs(a[i] - b[i]) / max(scale[i], .leastNormalMagnitude)
        greatest = error.isNaN ? .infinity : max(greatest, error)
    }
    return greatest
}

/// What holds for every kernel. Serialized, since the choice of the instruction set is global.
@Suite(.serialized) enum Kernels {}
