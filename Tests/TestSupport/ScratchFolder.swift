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

/// Bytes that begin as a model file does and repeat nowhere.
package func modelBytes(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
    var state = seed
    var bytes = Array("GGUF".utf8)
    while bytes.count < count {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        bytes.append(UInt8(truncatingIfNeeded: state >> 33))
    }
    return Array(bytes.prefix(count))
}
