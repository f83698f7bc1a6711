import Foundation
import Inference

/// Ways to damage a file: what a bad disk does, and what someone who means harm does.
enum Mutation: CaseIterable {
    case flippedBit, number32, number64, removed, repeated, swapped

    /// Numbers at which arithmetic breaks.
    private static let numbers: [UInt64] = [
        0, 1, 2, 7, 255, 65_535, 1 << 20, 1 << 24, UInt64(Int32.max), UInt64(UInt32.max), 1 << 32, 1 << 40, 1 << 48,
        UInt64(Int64.max) - 31, UInt64(Int64.max), 1 << 63, .max - 7, .max,
    ]

    /// Damages `data` in one place of its first `count` bytes.
    func apply(to data: inout Data, within count: Int, _ generator: inout SeededGenerator) {
        func place(_ size: Int) -> Int { Int.random(in: 0...max(0, count - size), using: &generator) }
        let number = Self.numbers.randomElement(using: &generator) ?? 0
        switch self {
        case .flippedBit: data[place(1)] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        case .number32:
            let start = place(4)
            data.replaceSubrange(
                start..<start + 4,
                with: withUnsafeBytes(of: UInt32(truncatingIfNeeded: number).littleEndian) { Data($0) })
        case .number64:
            let start = place(8)
            data.replaceSubrange(start..<start + 8, with: withUnsafeBytes(of: number.littleEndian) { Data($0) })
        case .removed:
            let start = place(16)
            data.removeSubrange(start..<start + Int.random(in: 1...16, using: &generator))
        case .repeated:
            let start = place(32)
            data.insert(contentsOf: Data(data[start..<start + 32]), at: start)
        case .swapped:
            let (first, second) = (place(8), place(8))
            let bytes = Data(data[first..<first + 8])
            data.replaceSubrange(first..<first + 8, with: Data(data[second..<second + 8]))
            data.replaceSubrange(second..<second + 8, with: bytes)
        }
    }
}
