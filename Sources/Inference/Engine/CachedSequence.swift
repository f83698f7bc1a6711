import Tokenizers

/// A sequence of tokens with their keys and values.
final class CachedSequence {
    let cache: KeyValueCache
    /// The tokens whose keys and values are in the cache, by position.
    var tokens: [TokenID] = []
    /// When it was last used, by the prefix cache's count of uses.
    var lastUse = 0

    init(_ cache: KeyValueCache) { self.cache = cache }
}
