import Foundation
import Tokenizers

/// The beginning of a snapshot file, in little-endian numbers:
///
///     magic               8 bytes     "FMPREFIX"
///     version             UInt32      1
///     token count         UInt32
///     payload length      UInt64
///     key                 32 bytes    SHA-256, see SnapshotKey
///     payload digest      32 bytes    SHA-256
///     tokens              Int32 each
///     header digest       32 bytes    SHA-256 of all before it
///
/// The payload follows: the pieces of `KeyValueCache.pieces` one after the other.
struct SnapshotHeader {
    let key: [UInt8]
    let tokens: [TokenID]
    let payloadLength: Int
    let payloadDigest: [UInt8]

    static let magic = Array("FMPREFIX".utf8)
    static let version: UInt32 = 1
    private static let fixedLength = 8 + 4 + 4 + 8 + 32 + 32
    private static let digestLength = 32

    static func length(tokenCount: Int) -> Int {
        fixedLength + tokenCount * MemoryLayout<TokenID>.size + digestLength
    }

    var encoded: [UInt8] {
        var bytes = Self.magic
        func append(_ value: some FixedWidthInteger) {
            withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
        }
        append(Self.version)
        append(UInt32(tokens.count))
        append(UInt64(payloadLength))
        bytes += key + payloadDigest
        for token in tokens { append(token) }
        return bytes + Self.digest(bytes)
    }

    private static func digest(_ bytes: [UInt8]) -> [UInt8] {
        let hash = SHA256()
        bytes.withUnsafeBytes { hash.update($0) }
        return hash.bytes()
    }

    init(key: [UInt8], tokens: [TokenID], payloadLength: Int, payloadDigest: [UInt8]) {
        self.key = key
        self.tokens = tokens
        self.payloadLength = payloadLength
        self.payloadDigest = payloadDigest
    }

    enum Fault: Error, CustomStringConvertible {
        case unreadable(String)
        case foreign
        case otherModel
        case damaged(String)

        var description: String {
            switch self {
            case .unreadable(let reason): "it cannot be read: \(reason)"
            case .foreign: "it is no snapshot of this version"
            case .otherModel: "it belongs to another model, or to other settings"
            case .damaged(let part): "\(part) is damaged"
            }
        }
    }

    /// Reads and checks the header of an open file.
    /// - Parameters:
    ///   - key: What the snapshot must belong to.
    ///   - mostTokens: A file that says more is damaged.
    init(_ descriptor: Int32, key: [UInt8], mostTokens: Int) throws(Fault) {
        let fixed = try Self.read(descriptor, at: 0, count: Self.fixedLength)
        guard fixed.starts(with: Self.magic) else { throw .foreign }
        func number<T: FixedWidthInteger>(_ type: T.Type, _ offset: Int) -> T {
            fixed.withUnsafeBytes { T(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: T.self)) }
        }
        guard number(UInt32.self, 8) == Self.version else { throw .foreign }
        guard fixed[24..<56].elementsEqual(key) else { throw .otherModel }
        let count = Int(number(UInt32.self, 12))
        guard count >= 1, count <= mostTokens, let length = Int(exactly: number(UInt64.self, 16)) else {
            throw .damaged("the number of its tokens")
        }
        let whole = try Self.read(descriptor, at: 0, count: Self.length(tokenCount: count))
        let end = whole.count - Self.digestLength
        guard Self.digest(Array(whole[..<end])).elementsEqual(whole[end...]) else { throw .damaged("its header") }
        self.key = key
        payloadLength = length
        payloadDigest = Array(whole[56..<88])
        tokens = whole[..<end].withUnsafeBytes { bytes in
            (0..<count).map {
                TokenID(littleEndian: bytes.loadUnaligned(fromByteOffset: Self.fixedLength + 4 * $0, as: TokenID.self))
            }
        }
        var status = stat()
        guard fstat(descriptor, &status) == 0, Int(status.st_size) - Self.length(tokenCount: count) == length else {
            throw .damaged("its length")
        }
    }

    private static func read(_ descriptor: Int32, at offset: Int, count: Int) throws(Fault) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let filled = bytes.withUnsafeMutableBytes { FileBytes.read(descriptor, at: offset, into: $0) }
        if let error = filled.error { throw .unreadable(String(cString: strerror(error))) }
        guard filled.count == count else { throw .damaged("its length") }
        return bytes
    }
}
