import CKernels

/// The weights of a model in memory, prepared for the kernels. They lie one after the other in one allocation of huge
/// pages and are read-only once loaded.
final class Weights: @unchecked Sendable {
    /// [vocabulary, width]
    let embedding: UnsafePointer<ck_matrix>
    /// [width]
    let outputNorm: UnsafePointer<Float>
    /// [vocabulary, width]; the embedding itself in models that tie the two.
    let head: UnsafePointer<ck_matrix>
    let layers: [Layer]
    /// All parameters, tied ones counted once.
    let parameterCount: Int

    private let arena: UnsafeMutableRawBufferPointer
    /// The descriptions of all matrices, which the kernels take by pointer.
    private let matrices: UnsafeMutableBufferPointer<ck_matrix>

    struct Layer {
        /// [width]
        var attentionNorm: UnsafePointer<Float>
        /// Queries, keys and values: three matrices, or one where the family fuses them.
        /// [heads · head width, width], twice [key-value heads · head width, width]
        var queryKeyValue: [Linear]
        /// [head width], where the family normalises queries and keys.
        var queryNorm: UnsafePointer<Float>?
        var keyNorm: UnsafePointer<Float>?
        /// [width, heads · head width]
        var attentionOutput: Linear
        /// [width], in families with norms after attention and feed-forward.
        var postAttentionNorm: UnsafePointer<Float>?
        var postFeedForwardNorm: UnsafePointer<Float>?
        /// [width]
        var feedForwardNorm: UnsafePointer<Float>
        /// Gate and up: two matrices [feed-forward, width], or one of both.
        var gateUp: [Linear]
        /// [width, feed-forward]
        var down: Linear
    }

    /// y = W x + b
    struct Linear {
        var matrix: UnsafePointer<ck_matrix>
        var bias: UnsafePointer<Float>?
    }

    init(
        embedding: UnsafePointer<ck_matrix>, outputNorm: UnsafePointer<Float>, head: UnsafePointer<ck_matrix>,
        layers: [Layer], parameterCount: Int, arena: UnsafeMutableRawBufferPointer,
        matrices: UnsafeMutableBufferPointer<ck_matrix>
    ) {
        self.embedding = embedding
        self.outputNorm = outputNorm
        self.head = head
        self.layers = layers
        self.parameterCount = parameterCount
        self.arena = arena
        self.matrices = matrices
    }

    deinit {
        ck_free(arena.baseAddress, arena.count)
        matrices.deallocate()
    }

    /// The bytes that are read to decode one token: all but the embedding, of which one row is read.
    var bytesPerToken: Int {
        (layerMatrices + [head]).reduce(0) {
            $0 + ck_matrix_bytes($1.pointee.type, $1.pointee.rows, $1.pointee.cols)
        }
    }

    /// The elements of all matrices that every token of a prompt is multiplied by.
    var productsPerToken: Int { layerMatrices.reduce(0) { $0 + Int($1.pointee.rows * $1.pointee.cols) } }

    private var layerMatrices: [UnsafePointer<ck_matrix>] {
        layers.flatMap { layer in
            (layer.queryKeyValue + layer.gateUp + [layer.attentionOutput, layer.down]).map(\.matrix)
        }
    }
}
