import CKernels

/// The weights of a model that generates text.
final class Weights: @unchecked Sendable {
    /// [vocabulary, width]
    let embedding: UnsafePointer<ck_matrix>
    /// [width]
    let outputNorm: UnsafePointer<Float>
    /// [vocabulary, width]; the embedding itself in models that tie the two.
    let head: UnsafePointer<ck_matrix>
    let layers: [Layer]
    /// What the pointers point into.
    private let tensors: LoadedTensors

    struct Layer {
        /// [width]
        var attentionNorm: UnsafePointer<Float>
        /// Queries, keys and values: three matrices, or one where the family fuses them.
        /// [heads · head width, width], twice [key-value heads · head width, width]
        var queryKeyValue: [Linear]
        /// [head width], where the family normalises queries and keys.
        var queryNorm: UnsafePointer<Float>?
        var keyNorm: UnsafePointer<Float>?
        /// [key-value heads · head width], where keys have something in common: see `negatedKeyCentre`.
        var negatedKeyCentre: [Float]?
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
        layers: [Layer], tensors: LoadedTensors
    ) {
        self.embedding = embedding
        self.outputNorm = outputNorm
        self.head = head
        self.layers = layers
        self.tensors = tensors
    }

    var parameterCount: Int { tensors.parameterCount }

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

extension [Weights.Linear] {
    /// outputs = W x + b for matrices on the same input. A fused matrix fills its output from the first part on.
    /// - Parameters:
    ///   - input: [rows, width of the input], its rows `inputStride` apart.
    ///   - outputs: One for each matrix, their rows `outputStride` apart.
    ///   - accumulates: Whether the products are added to what the outputs hold.
    func multiply(
        _ pool: OpaquePointer, _ input: UnsafePointer<Float>, _ inputStride: Int,
        into outputs: [UnsafeMutablePointer<Float>], _ outputStride: Int, _ rowCount: Int, accumulates: Bool = false
    ) throws(InferenceError) {
        let products = zip(self, outputs).map { linear, output in
            ck_product(
                matrix: linear.matrix, y: output, y_stride: Int64(outputStride), bias: linear.bias,
                accumulates: accumulates)
        }
        guard ck_matmul(pool, input, Int64(inputStride), Int64(rowCount), products, Int32(products.count)) else {
            throw .outOfMemory(bytes: 0, purpose: "a matrix product")
        }
    }
}
