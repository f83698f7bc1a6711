import Tokenizers

extension ModelConfiguration {
    /// No model comes near these; they keep a hostile file from claiming memory and from overflowing products.
    private enum Limit {
        static let layers = 1024
        static let width = 1 << 20
        static let heads = 1 << 14
        static let context = 1 << 28
    }

    /// Reads the metadata of the file, `ARCHITECTURE.*`, and checks that the numbers fit each other.
    /// - Parameters:
    ///   - contextSize: The context to prepare for; nil: the one that the model was trained for.
    ///   - purpose: What the model is wanted for; a file of a family with another purpose is refused.
    package init(
        _ file: GGUFFile, contextSize: Int? = nil, purpose: Architecture.Purpose = .text
    ) throws(InferenceError) {
        let name = try file.require("general.architecture", as: "a string", \.stringValue)
        let architecture = try Architecture.named(name)
        guard architecture.purpose == purpose else {
            throw purpose == .text ? .computesEmbeddings(architecture: name) : .generatesText(architecture: name)
        }
        let keys = Keys(file: file, prefix: name)

        let layerCount = try keys.integer("block_count", in: 1...Limit.layers)
        let width = try keys.integer("embedding_length", in: 1...Limit.width)
        let feedForwardWidth = try keys.integer("feed_forward_length", in: 1...Limit.width)
        let headCount = try keys.integer("attention.head_count", in: 1...Limit.heads)
        let keyValueHeadCount =
            try keys.optionalInteger("attention.head_count_kv", in: 1...Limit.heads) ?? headCount
        guard headCount % keyValueHeadCount == 0 else {
            throw .invalidMetadata(
                key: keys.name("attention.head_count_kv"),
                reason: "\(keyValueHeadCount) heads do not divide \(headCount) query heads")
        }
        let headWidth: Int
        if let length = try keys.optionalInteger("attention.key_length", in: 1...Limit.heads) {
            headWidth = length
        } else {
            guard width % headCount == 0 else {
                throw .invalidMetadata(
                    key: keys.name("attention.head_count"),
                    reason: "\(headCount) heads do not divide a width of \(width)")
            }
            headWidth = width / headCount
        }
        if let length = try keys.optionalInteger("attention.value_length", in: 1...Limit.heads), length != headWidth {
            throw .invalidMetadata(
                key: keys.name("attention.value_length"),
                reason: "values of \(length) beside keys of \(headWidth) are not supported")
        }
        // The attention kernels take eight dimensions at a time.
        guard headWidth % 8 == 0 else {
            throw .invalidMetadata(
                key: keys.name("attention.key_length"), reason: "a head of \(headWidth) is no multiple of 8")
        }

        self.architecture = architecture
        self.layerCount = layerCount
        self.width = width
        self.feedForwardWidth = feedForwardWidth
        self.headCount = headCount
        self.keyValueHeadCount = keyValueHeadCount
        self.headWidth = headWidth

        guard let embedding = file.tensor("token_embd.weight") else { throw .missingTensor("token_embd.weight") }
        vocabularySize = embedding.rows
        guard vocabularySize <= 1 << 24 else {
            throw .wrongShape(tensor: embedding.name, expected: [width, 1 << 24], actual: embedding.shape)
        }
        if let tokens = file.metadata["tokenizer.ggml.tokens"]?.stringsValue, tokens.count > vocabularySize {
            throw .wrongShape(tensor: embedding.name, expected: [width, tokens.count], actual: embedding.shape)
        }

        trainedContextSize = try keys.integer("context_length", in: 1...Limit.context)
        normEpsilon = try keys.number(
            purpose == .text ? "attention.layer_norm_rms_epsilon" : "attention.layer_norm_epsilon", above: 0)
        let scaleWidth =
            architecture.layerCountsWithWidthScale.contains(layerCount) ? width / headCount : headWidth
        attentionScale =
            try keys.optionalNumber("attention.scale", above: 0) ?? 1 / Float(scaleWidth).squareRoot()
        attentionSoftCap = try keys.optionalNumber("attn_logit_softcapping", above: 0)
        logitSoftCap = try keys.optionalNumber("final_logit_softcapping", above: 0)
        embeddingScale =
            try keys.optionalNumber("embedding_scale", above: 0)
            ?? (architecture.scalesEmbedding ? Float(width).squareRoot() : 1)
        residualScale = try keys.optionalNumber("residual_scale", above: 0) ?? 1
        logitScale = try 1 / (keys.optionalNumber("logit_scale", above: 0) ?? 1)

        let window = try keys.optionalInteger("attention.sliding_window", in: 0...Limit.context)
            .flatMap { $0 > 0 ? $0 : nil }
        if architecture.slidingWindowPeriod > 1, window == nil {
            throw .missingMetadata(key: keys.name("attention.sliding_window"))
        }
        let period =
            try keys.optionalInteger("attention.sliding_window_pattern", in: 1...Limit.layers)
            ?? architecture.slidingWindowPeriod
        layers = (0..<layerCount).map { layer in
            let isGlobal = period > 1 && (layer + 1) % period == 0
            let hasPosition =
                architecture.noPositionPeriod == 0 || (layer + 1) % architecture.noPositionPeriod != 0
            return LayerConfiguration(window: isGlobal ? nil : window, usesRoPE: hasPosition)
        }

        rope = try RoPEConfiguration(
            file, keys: keys, headWidth: headWidth, pairing: architecture.ropePairing,
            trainedContextSize: trainedContextSize, contextSize: contextSize ?? trainedContextSize)
        let slidingBase = try keys.optionalNumber("rope.freq_base_swa", above: 0) ?? architecture.slidingRoPEBase
        slidingRoPE = rope.forSlidingLayers(base: slidingBase, isScaled: architecture.scalesSlidingRoPE)
    }

    /// The keys of one architecture.
    struct Keys {
        let file: GGUFFile
        let prefix: String

        func name(_ key: String) -> String { "\(prefix).\(key)" }

        func integer(_ key: String, in range: ClosedRange<Int>) throws(InferenceError) -> Int {
            guard let value = try optionalInteger(key, in: range) else { throw .missingMetadata(key: name(key)) }
            return value
        }

        func optionalInteger(_ key: String, in range: ClosedRange<Int>) throws(InferenceError) -> Int? {
            guard let found = file.metadata[name(key)] else { return nil }
            var value = found.intValue
            // A few files give a number for each layer; here every layer must have the same.
            if let values = found.integersValue, let first = values.first {
                guard values.allSatisfy({ $0 == first }) else {
                    throw .invalidMetadata(key: name(key), reason: "layers that differ in it are not supported")
                }
                value = Int(first)
            }
            guard let value else { throw .invalidMetadata(key: name(key), reason: "it is not an integer") }
            guard range.contains(value) else {
                throw .invalidMetadata(
                    key: name(key), reason: "\(value) is not between \(range.lowerBound) and \(range.upperBound)")
            }
            return value
        }

        func number(_ key: String, above bound: Float) throws(InferenceError) -> Float {
            guard let value = try optionalNumber(key, above: bound) else { throw .missingMetadata(key: name(key)) }
            return value
        }

        func optionalNumber(_ key: String, above bound: Float) throws(InferenceError) -> Float? {
            guard let value = try file.optional(name(key), as: "a number", \.floatValue) else { return nil }
            guard value.isFinite, value > bound else {
                throw .invalidMetadata(key: name(key), reason: "\(value) is not a number above \(bound)")
            }
            return value
        }

        func optionalString(_ key: String) throws(InferenceError) -> String? {
            try file.optional(name(key), as: "a string", \.stringValue)
        }
    }
}
