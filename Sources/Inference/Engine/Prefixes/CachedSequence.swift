import Tokenizers

/// A sequence of tokens with their keys and values.
final class CachedSequence {
    let cache: KeyValueCache
    /// The digest of the adapter that they were computed with.
    let adapter: [UInt8]?
    /// The tokens whose keys and values are in the cache, by position.
    var tokens: [TokenID] = []
    /// How many of them the prefix store's tree has.
    var indexedCount = 0
    /// When it was last used, by the prefix store's count of uses.
    var lastUse = 0

    init(_ cache: KeyValueCache, adapter: [UInt8]? = nil) {
        self.cache = cache
        self.adapter = adapter
    }
}
