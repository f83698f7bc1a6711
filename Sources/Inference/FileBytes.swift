import Foundation

/// Reading and writing in full.
enum FileBytes {
    /// How many bytes there were, and the error that ended the reading.
    static func read(
        _ descriptor: Int32, at offset: Int, into buffer: UnsafeMutableRawBufferPointer
    ) -> (count: Int, error: Int32?) {
        var filled = 0
        while filled < buffer.count {
            let got = pread(descriptor, buffer.baseAddress! + filled, buffer.count - filled, off_t(offset + filled))
            if got < 0, errno == EINTR { continue }
            if got < 0 { return (filled, errno) }
            if got == 0 { break }
            filled += got
        }
        return (filled, nil)
    }

    static func write(_ descriptor: Int32, at offset: Int, _ buffer: UnsafeRawBufferPointer) -> Bool {
        var written = 0
        while written < buffer.count {
            let put = pwrite(descriptor, buffer.baseAddress! + written, buffer.count - written, off_t(offset + written))
            if put < 0, errno == EINTR { continue }
            guard put > 0 else { return false }
            written += put
        }
        return true
    }
}
