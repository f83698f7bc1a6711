import CLibcrypto
import Foundation

/// SHA-256 of bytes that come in pieces, by libcrypto (FIPS 180-4).
package struct SHA256: ~Copyable {
    private let context: OpaquePointer

    package init() {
        // Both fail only when there is no memory for a few hundred bytes.
        guard let context = EVP_MD_CTX_new(), EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1 else {
            fatalError("libcrypto has no SHA-256")
        }
        self.context = context
    }

    deinit { EVP_MD_CTX_free(context) }

    package borrowing func update(_ bytes: UnsafeRawBufferPointer) {
        guard EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) == 1 else {
            fatalError("libcrypto cannot hash")
        }
    }

    /// The digest of what has come so far, 32 bytes. More may follow.
    package borrowing func bytes() -> [UInt8] {
        guard let copy = EVP_MD_CTX_new() else { fatalError("libcrypto has no memory") }
        defer { EVP_MD_CTX_free(copy) }
        var digest = [UInt8](repeating: 0, count: 32)
        guard EVP_MD_CTX_copy_ex(copy, context) == 1, EVP_DigestFinal_ex(copy, &digest, nil) == 1 else {
            fatalError("libcrypto cannot hash")
        }
        return digest
    }

    /// The same as 64 lower-case hexadecimal digits.
    package borrowing func digest() -> String { Self.hexadecimal(bytes()) }

    package static func hexadecimal(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// The digest of a whole file.
    package static func digest(of file: URL) throws -> String {
        let handle = try FileHandle(forReadingFrom: file)
        defer { try? handle.close() }
        let hash = SHA256()
        while let piece = try handle.read(upToCount: 4 << 20), !piece.isEmpty {
            piece.withUnsafeBytes { hash.update($0) }
        }
        return hash.digest()
    }

    /// Whether a text can be a digest as `digest()` writes it, in either case.
    package static func isDigest(_ text: String) -> Bool {
        text.utf8.count == 64
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
                    UInt8(ascii: "A")...UInt8(ascii: "F"):
                    true
                default: false
                }
            }
    }
}
