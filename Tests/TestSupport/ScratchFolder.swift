import Foundation

/// A folder of its own, removed at the end.
package final class ScratchFolder: Sendable {
    package let path: String

    package init() {
        path = "\(NSTemporaryDirectory())/fm-test-\(UUID().uuidString)"
        try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    package func files(_ folder: String = "") -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: "\(path)/\(folder)")) ?? []).sorted()
    }

    package func read(_ name: String) -> [UInt8]? {
        FileManager.default.contents(atPath: "\(path)/\(name)").map(Array.init)
    }

    package func write(_ bytes: [UInt8], _ name: String) {
        let file = "\(path)/\(name)"
        try? FileManager.default.createDirectory(
            atPath: (file as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        _ = FileManager.default.createFile(atPath: file, contents: Data(bytes))
    }
}

/// A GGUF file of the architecture `llama` with one tensor of 16-bit floats, whose bytes repeat nowhere and fill the file.
/// - Parameter count: The bytes of the file. Below 130 there is no room for a whole one.
package func modelBytes(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
    func number(_ value: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: value.littleEndian) { Array($0) } }
    func string(_ text: String) -> [UInt8] { number(UInt64(text.utf8.count)) + Array(text.utf8) }
    var state = seed
    var bytes = Array("GGUF".utf8) + number(UInt32(3)) + number(UInt64(1)) + number(UInt64(1))
    bytes += string("general.architecture") + number(UInt32(8)) + string("llama")
    // Name, number of dimensions, extent, type, place of the data, which begin at a multiple of 32.
    bytes += string("t") + number(UInt32(1)) + number(UInt64(max(1, (count - 128) / 2)))
    bytes += number(UInt32(1)) + number(UInt64(0))
    bytes += [UInt8](repeating: 0, count: 128 - bytes.count)
    while bytes.count < count {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        bytes.append(UInt8(truncatingIfNeeded: state >> 33))
    }
    return Array(bytes.prefix(count))
}
