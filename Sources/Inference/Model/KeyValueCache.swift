import CKernels

/// The keys and values of one sequence in all layers, in half precision. The slot of a token is its position.
///
/// It grows as the sequence does, so that memory follows what is used. All layers lie in one allocation, for each layer
/// first the keys, then the values: `ck_cache` has the layout within a layer.
final class KeyValueCache {
    private let layerCount: Int
    private let headCount: Int
    private let headWidth: Int
    private var memory: UnsafeMutableRawBufferPointer
    /// One for each layer.
    private(set) var layers: UnsafeMutablePointer<ck_cache>
    /// In tokens.
    private(set) var capacity: Int

    /// The slots that are added at a time, at least.
    static let granularity = 256

    init(_ configuration: ModelConfiguration, capacity: Int) throws(InferenceError) {
        layerCount = configuration.layerCount
        headCount = configuration.keyValueHeadCount
        headWidth = configuration.headWidth
        self.capacity = Self.rounded(capacity)
        memory = try Self.allocate(layerCount * Self.layerBytes(headCount, headWidth, self.capacity))
        layers = .allocate(capacity: layerCount)
        layers.initialize(repeating: ck_cache(), count: layerCount)
        Self.place(layers, layerCount, headCount, headWidth, self.capacity, in: memory)
    }

    deinit {
        ck_free(memory.baseAddress, memory.count)
        layers.deallocate()
    }

    var byteCount: Int { memory.count }

    static func rounded(_ capacity: Int) -> Int {
        (max(1, capacity) + granularity - 1) / granularity * granularity
    }

    private static func allocate(_ bytes: Int) throws(InferenceError) -> UnsafeMutableRawBufferPointer {
        guard let memory = ck_allocate(bytes) else { throw .outOfMemory(bytes: bytes, purpose: "the key-value cache") }
        return UnsafeMutableRawBufferPointer(start: memory, count: bytes)
    }

    private static func layerBytes(_ headCount: Int, _ headWidth: Int, _ capacity: Int) -> Int {
        2 * ck_cache_elements(Int64(headCount), Int64(headWidth), Int64(capacity)) * MemoryLayout<UInt16>.size
    }

    private static func place(
        _ layers: UnsafeMutablePointer<ck_cache>, _ layerCount: Int, _ headCount: Int, _ headWidth: Int,
        _ capacity: Int, in memory: UnsafeMutableRawBufferPointer
    ) {
        let elements = ck_cache_elements(Int64(headCount), Int64(headWidth), Int64(capacity))
        let base = memory.baseAddress!.assumingMemoryBound(to: UInt16.self)
        for layer in 0..<layerCount {
            layers[layer] = ck_cache(
                keys: base + 2 * layer * elements, values: base + (2 * layer + 1) * elements, capacity: Int64(capacity))
        }
    }

    /// Makes room for `count` tokens and keeps the first `used` of them.
    /// - Parameter isCancelled: Asked before each layer.
    /// - Returns: False when it was given up; then nothing has changed.
    func reserve(
        _ count: Int, used: Int, limit: Int, isCancelled: () -> Bool
    ) throws(InferenceError) -> Bool {
        guard count > capacity else { return true }
        let grown = Self.rounded(min(max(count, capacity + capacity / 2), max(count, limit)))
        let newMemory = try Self.allocate(layerCount * Self.layerBytes(headCount, headWidth, grown))
        let newLayers = UnsafeMutablePointer<ck_cache>.allocate(capacity: layerCount)
        newLayers.initialize(repeating: ck_cache(), count: layerCount)
        Self.place(newLayers, layerCount, headCount, headWidth, grown, in: newMemory)
        guard copy(used, into: newLayers, isCancelled) else {
            ck_free(newMemory.baseAddress, newMemory.count)
            newLayers.deallocate()
            return false
        }
        ck_free(memory.baseAddress, memory.count)
        layers.deallocate()
        memory = newMemory
        layers = newLayers
        capacity = grown
        return true
    }

    /// Copies the first `count` tokens into another sequence's cache, which must have room for them.
    /// - Parameter isCancelled: Asked before each layer.
    /// - Returns: False when it was given up.
    func copyPrefix(_ count: Int, to other: KeyValueCache, isCancelled: () -> Bool) -> Bool {
        precondition(count <= other.capacity && count <= capacity)
        return copy(count, into: other.layers, isCancelled)
    }

    /// However little is copied, it lies in every part of memory that is new, so the system has to find and clear all of it
    /// here, which takes far longer than the copying.
    private func copy(_ count: Int, into target: UnsafeMutablePointer<ck_cache>, _ isCancelled: () -> Bool) -> Bool {
        guard count > 0 else { return true }
        // Keys stand in blocks of slots; a block that is copied beyond `count` holds numbers that are not read before
        // they are written.
        let block = Int(CK_KEY_BLOCK)
        let keyCount = (count + block - 1) / block * block * headWidth
        let valueCount = count * headWidth
        for layer in 0..<layerCount {
            if isCancelled() { return false }
            let (from, to) = (layers[layer], target[layer])
            for head in 0..<headCount {
                let fromStart = head * Int(from.capacity) * headWidth
                let toStart = head * Int(to.capacity) * headWidth
                (to.keys + toStart).update(from: from.keys + fromStart, count: keyCount)
                (to.values + toStart).update(from: from.values + fromStart, count: valueCount)
            }
        }
        return true
    }

    /// The memory of the first `count` tokens, piece by piece: for each layer the keys of each head, then the values of
    /// each head. Keys stand in whole blocks of slots, of which the last may have slots that are not in use. The pieces of
    /// fewer tokens are beginnings of those of more.
    func pieces(_ count: Int) -> [UnsafeMutableRawBufferPointer] {
        precondition(count <= capacity)
        let lengths = pieceLengths(count)
        return (0..<layerCount * 2 * headCount).map { index in
            let layer = layers[index / headCount / 2]
            let part = index / headCount % 2 == 0 ? layer.keys! : layer.values!
            return UnsafeMutableRawBufferPointer(
                start: part + index % headCount * capacity * headWidth, count: lengths[index])
        }
    }

    /// The bytes of each piece of `pieces`.
    func pieceLengths(_ count: Int) -> [Int] {
        let block = Int(CK_KEY_BLOCK)
        let slotBytes = headWidth * MemoryLayout<UInt16>.size
        let keys = [Int](repeating: (count + block - 1) / block * block * slotBytes, count: headCount)
        let values = [Int](repeating: count * slotBytes, count: headCount)
        return (0..<layerCount).flatMap { _ in keys + values }
    }
}
