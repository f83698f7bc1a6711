import CKernels

/// The keys and values of one sequence in all layers. The slot of a token is its position.
///
/// It grows as the sequence does, so that memory follows what is used. All layers lie in one allocation, for each layer
/// first the keys, then the values: `ck_cache` has the layout within a layer.
final class KeyValueCache {
    private let shape: Shape
    private var memory: UnsafeMutableRawBufferPointer
    /// One for each layer.
    private(set) var layers: UnsafeMutablePointer<ck_cache>
    /// In tokens.
    private(set) var capacity: Int

    /// The slots that are added at a time, at least.
    static let granularity = 256

    private struct Shape {
        let layerCount: Int
        let headCount: Int
        let type: CacheType
        /// Of the keys, or values, of one head.
        let blockBytes: Int

        /// What the keys, or values, of one head take.
        func headBytes(_ slots: Int) -> Int {
            let block = Int(CK_CACHE_BLOCK)
            return (slots + block - 1) / block * blockBytes
        }

        /// What all take.
        func bytes(_ slots: Int) -> Int { layerCount * 2 * headCount * headBytes(slots) }
    }

    init(_ configuration: ModelConfiguration, type: CacheType, capacity: Int) throws(InferenceError) {
        shape = Shape(
            layerCount: configuration.layerCount, headCount: configuration.keyValueHeadCount, type: type,
            blockBytes: type.blockBytes(headWidth: configuration.headWidth))
        self.capacity = Self.rounded(capacity)
        memory = try Self.allocate(shape.bytes(self.capacity))
        layers = Self.layers(shape, self.capacity, in: memory)
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

    private static func layers(
        _ shape: Shape, _ capacity: Int, in memory: UnsafeMutableRawBufferPointer
    ) -> UnsafeMutablePointer<ck_cache> {
        let partBytes = shape.headCount * shape.headBytes(capacity)
        let layers = UnsafeMutablePointer<ck_cache>.allocate(capacity: shape.layerCount)
        for layer in 0..<shape.layerCount {
            let keys = memory.baseAddress! + 2 * layer * partBytes
            (layers + layer).initialize(
                to: ck_cache(
                    keys: keys, values: keys + partBytes, capacity: Int64(capacity), type: shape.type.kernelType))
        }
        return layers
    }

    /// Makes room for `count` tokens and keeps the first `used` of them.
    /// - Parameter isCancelled: Asked before each layer.
    /// - Returns: False when it was given up; then nothing has changed.
    func reserve(
        _ count: Int, used: Int, limit: Int, isCancelled: () -> Bool
    ) throws(InferenceError) -> Bool {
        guard count > capacity else { return true }
        let grown = Self.rounded(min(max(count, capacity + capacity / 2), max(count, limit)))
        let newMemory = try Self.allocate(shape.bytes(grown))
        let newLayers = Self.layers(shape, grown, in: newMemory)
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

    /// Copies the first `count` tokens into another sequence's cache of the same type, which must have room for them.
    /// - Parameter isCancelled: Asked before each layer.
    /// - Returns: False when it was given up.
    func copyPrefix(_ count: Int, to other: KeyValueCache, isCancelled: () -> Bool) -> Bool {
        precondition(count <= other.capacity && count <= capacity && shape.type == other.shape.type)
        return copy(count, into: other.layers, isCancelled)
    }

    /// However little is copied, it lies in every part of memory that is new, so the system has to find and clear all of it
    /// here, which takes far longer than the copying.
    private func copy(_ count: Int, into target: UnsafeMutablePointer<ck_cache>, _ isCancelled: () -> Bool) -> Bool {
        guard count > 0 else { return true }
        for layer in 0..<shape.layerCount {
            if isCancelled() { return false }
            for (from, to) in zip(pieces(count, of: layers[layer]), pieces(count, of: target[layer])) {
                to.copyMemory(from: UnsafeRawBufferPointer(from))
            }
        }
        return true
    }

    /// Where the first `count` tokens of one layer lie: the keys of each head, then the values of each head, in whole
    /// blocks of slots.
    private func pieces(_ count: Int, of layer: ck_cache) -> [UnsafeMutableRawBufferPointer] {
        [layer.keys!, layer.values!].flatMap { part in
            (0..<shape.headCount).map { head in
                UnsafeMutableRawBufferPointer(
                    start: part + head * shape.headBytes(Int(layer.capacity)), count: shape.headBytes(count))
            }
        }
    }

    /// The memory of the first `count` tokens, piece by piece: for each layer the keys of each head, then the values of
    /// each head. All are equally long and stand in whole blocks of slots, of which the last may have slots that are not in
    /// use: numbers that are not read before they are written. The pieces of fewer tokens are beginnings of those of more.
    func pieces(_ count: Int) -> [UnsafeMutableRawBufferPointer] {
        precondition(count <= capacity)
        return (0..<shape.layerCount).flatMap { pieces(count, of: layers[$0]) }
    }

    /// The bytes of each piece of `pieces`.
    func pieceLength(_ count: Int) -> Int { shape.headBytes(count) }

    /// The bytes of all pieces of `pieces`.
    func byteCount(_ count: Int) -> Int { shape.bytes(count) }
}
