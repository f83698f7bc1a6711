import CKernels

/// How the cache keeps keys and values. The names are those of the weights' types in GGUF files.
package enum CacheType: String, Sendable, CaseIterable {
    /// In half precision.
    case f16
    /// In 8 bits, with a scale in half precision for each 32: a little more than half of the memory, for long contexts.
    case q8_0

    var kernelType: ck_type {
        switch self {
        case .f16: CK_F16
        case .q8_0: CK_Q8_0
        }
    }

    /// What keys, or values, of one head and 8 slots (`CK_CACHE_BLOCK`) take, in bytes.
    func blockBytes(headWidth: Int) -> Int { ck_cache_block_bytes(kernelType, Int64(headWidth)) }

    /// The names of all types, for messages.
    package static var names: String { allCases.map(\.rawValue).joined(separator: " or ") }
}
