import CKernels
import Foundation

/// Reads the data of tensors from their file. Several threads may read at once.
final class TensorReader: Sendable {
    private let descriptor: Int32
    private let path: String

    init(_ file: GGUFFile) throws(GGUFError) {
        path = file.url.path
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .unreadable(path: path, reason: String(cString: strerror(errno))) }
        // Ask for the whole file at once; a failure costs nothing but time.
        posix_fadvise(descriptor, 0, 0, POSIX_FADV_WILLNEED)
    }

    deinit { close(descriptor) }

    /// Fills `buffer` with the bytes of the file from `offset` on.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(GGUFError) {
        var filled = 0
        while filled < buffer.count {
            let got = pread(descriptor, buffer.baseAddress! + filled, buffer.count - filled, off_t(offset + filled))
            if got < 0, errno == EINTR { continue }
            guard got >= 0 else { throw .unreadable(path: path, reason: String(cString: strerror(errno))) }
            guard got > 0 else { throw .truncated(part: "the data of its tensors", offset: offset + filled) }
            filled += got
        }
    }

    /// The numbers of a tensor, whatever its type.
    func floats(of tensor: GGUFTensor) throws(GGUFError) -> [Float] {
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: tensor.byteCount, alignment: 64)
        defer { bytes.deallocate() }
        try read(into: bytes, at: tensor.offset)
        return [Float](unsafeUninitializedCapacity: tensor.elementCount) { floats, count in
            ck_dequantize(tensor.type.kernelType, bytes.baseAddress, floats.baseAddress, Int64(tensor.elementCount))
            count = tensor.elementCount
        }
    }
}

extension GGUFFile {
    /// The numbers of a tensor, for tensors that are small.
    package func floats(of tensor: GGUFTensor) throws(GGUFError) -> [Float] {
        try TensorReader(self).floats(of: tensor)
    }
}

extension TensorType {
    /// The kernels number the types as the files do.
    var kernelType: ck_type { ck_type(rawValue) }
}
