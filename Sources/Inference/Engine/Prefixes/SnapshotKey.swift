import CKernels
import Foundation

/// What keys and values depend on beside the tokens: the model, how it is computed, its adapter, and how they are kept.
/// Snapshots of one key are right for engines of the same key only.
struct SnapshotKey: Sendable, Hashable {
    /// A SHA-256 digest.
    let bytes: [UInt8]

    /// To be raised when kernels or the transformer come to compute other numbers than before.
    private static let computation: UInt32 = 6
    /// Bytes that are hashed at the beginning, in the middle and at the end of each tensor.
    private static let sampleBytes = 256

    /// The file's size, date and metadata, samples of each of its tensors, and what the engine makes of them. All of a
    /// large file cannot be read at every start; a change that keeps size, date, metadata and all samples is not found.
    init?(_ file: GGUFFile, _ configuration: ModelConfiguration, _ cacheType: CacheType) {
        let descriptor = open(file.url.path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }

        let hash = SHA256()
        func add(_ text: String) { Array(text.utf8).withUnsafeBytes { hash.update($0) } }
        add("\(Self.computation) \(status.st_size) \(status.st_mtim.tv_sec) \(status.st_mtim.tv_nsec) ")
        add(String(cString: ck_set_name(ck_selected())))
        add(" \(cacheType.rawValue)")
        add(" \(configuration.layerCount) \(configuration.keyValueHeadCount) \(configuration.headWidth)")
        for rope in [configuration.rope, configuration.slidingRoPE] {
            rope.frequencies.withUnsafeBytes { hash.update($0) }
            withUnsafeBytes(of: rope.magnitude) { hash.update($0) }
        }
        let longest = 1 << 20
        var buffer = [UInt8](repeating: 0, count: longest)
        func addBytes(at offset: Int, _ count: Int) -> Bool {
            buffer.withUnsafeMutableBytes { buffer in
                var filled = 0
                while filled < count {
                    let got = pread(descriptor, buffer.baseAddress! + filled, count - filled, off_t(offset + filled))
                    if got < 0, errno == EINTR { continue }
                    guard got > 0 else { return false }
                    filled += got
                }
                hash.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                return true
            }
        }
        for offset in stride(from: 0, to: file.dataOffset, by: longest) {
            guard addBytes(at: offset, min(longest, min(file.dataOffset, file.fileSize) - offset)) else { return nil }
        }
        for tensor in file.tensors {
            // How finely what it multiplies is rounded changes numbers as much as its weights do.
            add(Weights.needsFineInput(tensor.name, configuration) ? " fine" : " coarse")
            let count = min(Self.sampleBytes, tensor.byteCount)
            for offset in [0, (tensor.byteCount - count) / 2, tensor.byteCount - count] {
                guard addBytes(at: tensor.offset + offset, count) else { return nil }
            }
        }
        bytes = hash.bytes()
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    /// The key of the same model with an adapter.
    func withAdapter(_ digest: [UInt8]) -> SnapshotKey {
        let hash = SHA256()
        (bytes + Array("adapter".utf8) + digest).withUnsafeBytes { hash.update($0) }
        return SnapshotKey(bytes: hash.bytes())
    }
}
