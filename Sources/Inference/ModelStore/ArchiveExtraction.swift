import Foundation

/// Unpacks one member of a ZIP archive, found by the place of its local header, since the directory at the archive's end may
/// be in a part that was not fetched.
/// Source: PKWARE's APPNOTE.TXT, 4.3.7 (local file header) and 4.4.5 (method 8, deflate).
struct ArchiveExtraction {
    let archive: String
    let offset: Int64
    let name: String
    /// The length that the member must have.
    let expectedLength: Int64
    let environment: [String: String]

    /// Python's own zlib, which is there whenever pip is. The output of a step is limited, whatever the input says.
    private static let unpacker = """
        import struct, sys, zlib
        with open(sys.argv[1], 'rb') as archive:
            archive.seek(int(sys.argv[2]))
            header = archive.read(30)
            if len(header) < 30 or header[:4] != b'PK\\3\\4':
                sys.exit('there is no member at byte ' + sys.argv[2])
            method, = struct.unpack('<H', header[8:10])
            if method != 8:
                sys.exit('the member is packed by method %d, not by deflate' % method)
            archive.seek(sum(struct.unpack('<HH', header[26:30])), 1)
            inflate = zlib.decompressobj(-15)
            while not inflate.eof:
                packed = inflate.unconsumed_tail or archive.read(1 << 20)
                if not packed:
                    sys.exit('the member breaks off')
                sys.stdout.buffer.write(inflate.decompress(packed, 1 << 20))
        """

    func run(
        into file: PartialFile, onProgress: @escaping (Int64) throws(ModelStoreError) -> Void
    ) throws(ModelStoreError) {
        let child = ChildProcess("python3", ["-c", Self.unpacker, archive, "\(offset)"], environment: environment)
        var failure: ModelStoreError?
        let ended = child.run(output: { bytes in
            do throws(ModelStoreError) {
                guard file.length + Int64(bytes.count) <= expectedLength else {
                    throw .wrongLength(
                        source: name, expected: expectedLength, actual: file.length + Int64(bytes.count))
                }
                try file.append(bytes)
                try onProgress(file.length)
            } catch {
                failure = error
            }
            return failure == nil
        })
        if let failure { throw failure }
        if ended.status == 127 { throw .pipMissing(reason: "there is no python3") }
        guard ended.status == 0 else {
            throw .damagedArchive(name, reason: ended.lastLine ?? "the reader ended with \(ended.status)")
        }
    }
}
