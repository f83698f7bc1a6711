import Foundation

/// Rotary position embedding: the angle of pair `i` at position `p` is `p · frequencies[i]`.
/// Source: J. Su et al., "RoFormer: Enhanced Transformer with Rotary Position Embedding" (2021).
package struct RoPEConfiguration: Sendable, Equatable {
    package let pairing: RoPEPairing
    /// The base of the frequencies before scaling.
    let base: Float
    /// How the frequencies are stretched for contexts beyond the ones of the first training.
    let scaling: Scaling
    /// In radians per position, one for each pair of the dimensions that are turned.
    package let frequencies: [Float]
    /// Multiplies the turned numbers.
    package let magnitude: Float

    enum Scaling: Sendable, Equatable {
        case none
        /// All frequencies divided by one factor (position interpolation, S. Chen et al. 2023).
        case linear(factor: Float)
        /// Low frequencies divided, high ones kept, with a ramp between. Source: B. Peng et al., "YaRN" (2023).
        case yarn(factor: Float, originalContext: Int, betaFast: Float, betaSlow: Float, attentionFactor: Float)
        /// Each frequency divided by its own factor: Llama 3 (magnitude 1) and LongRoPE (Y. Ding et al. 2024).
        case factors([Float], magnitude: Float)
    }

    init(pairing: RoPEPairing, base: Float, dimensionCount: Int, scaling: Scaling) {
        self.pairing = pairing
        self.base = base
        self.scaling = scaling
        let pairCount = dimensionCount / 2
        let plain = (0..<pairCount).map { pow(Double(base), -2 * Double($0) / Double(dimensionCount)) }
        var magnitude = 1.0
        let scaled: [Double]
        switch scaling {
        case .none: scaled = plain
        case .linear(let factor): scaled = plain.map { $0 / Double(factor) }
        case .factors(let factors, let factorMagnitude):
            scaled = zip(plain, factors).map { $0 / Double($1) }
            magnitude = Double(factorMagnitude)
        case .yarn(let factor, let originalContext, let betaFast, let betaSlow, let attentionFactor):
            // The pair whose wave turns `beta` times within the original context.
            func pair(_ beta: Float) -> Double {
                Double(dimensionCount) * log(Double(originalContext) / (Double(beta) * 2 * .pi))
                    / (2 * log(Double(base)))
            }
            let low = max(0, pair(betaFast).rounded(.down))
            let high = min(Double(dimensionCount - 1), pair(betaSlow).rounded(.up))
            scaled = plain.enumerated().map { index, frequency in
                let ramp = min(1, max(0, (Double(index) - low) / max(0.001, high - low)))
                return frequency / Double(factor) * ramp + frequency * (1 - ramp)
            }
            magnitude = Double(attentionFactor) * (factor > 1 ? 1 + 0.1 * log(Double(factor)) : 1)
        }
        frequencies = scaled.map(Float.init)
        self.magnitude = Float(magnitude)
    }

    /// What a file says: `rope.*` of its metadata and the factor tensors.
    /// - Parameter contextSize: LongRoPE has factors for contexts up to the original one and others beyond it.
    init(
        _ file: GGUFFile, keys: ModelConfiguration.Keys, headWidth: Int, pairing: RoPEPairing, trainedContextSize: Int,
        contextSize: Int
    ) throws(InferenceError) {
        let dimensionCount = try keys.optionalInteger("rope.dimension_count", in: 2...headWidth) ?? headWidth
        guard dimensionCount % 2 == 0 else {
            throw .invalidMetadata(key: keys.name("rope.dimension_count"), reason: "\(dimensionCount) is odd")
        }
        let base = try keys.optionalNumber("rope.freq_base", above: 1) ?? 10_000
        let originalContext =
            try keys.optionalInteger("rope.scaling.original_context_length", in: 1...(1 << 28)) ?? trainedContextSize
        let factor = try keys.optionalNumber("rope.scaling.factor", above: 0)
        let attentionFactor = try keys.optionalNumber("rope.scaling.attn_factor", above: 0)

        let scaling: Scaling
        let name = try keys.optionalString("rope.scaling.type")
        if let factors = try file.ropeFactors("rope_freqs.weight", count: dimensionCount / 2) {
            scaling = .factors(factors, magnitude: attentionFactor ?? 1)
        } else if file.tensor("rope_factors_long.weight") != nil || file.tensor("rope_factors_short.weight") != nil {
            let isLong = contextSize > originalContext
            let tensor = isLong ? "rope_factors_long.weight" : "rope_factors_short.weight"
            guard let factors = try file.ropeFactors(tensor, count: dimensionCount / 2) else {
                throw .missingTensor(tensor)
            }
            let stretch = Float(trainedContextSize) / Float(originalContext)
            let magnitude = stretch > 1 ? (1 + log(stretch) / log(Float(originalContext))).squareRoot() : 1
            scaling = .factors(factors, magnitude: attentionFactor ?? magnitude)
        } else {
            switch name {
            case nil, "none":
                // Files of the first years carry the inverse under another name.
                let legacy = try keys.optionalNumber("rope.scale_linear", above: 0)
                scaling = legacy.map { .linear(factor: $0) } ?? .none
            case "linear":
                guard let factor else { throw .missingMetadata(key: keys.name("rope.scaling.factor")) }
                scaling = .linear(factor: factor)
            case "yarn":
                guard let factor else { throw .missingMetadata(key: keys.name("rope.scaling.factor")) }
                scaling = .yarn(
                    factor: factor, originalContext: originalContext,
                    betaFast: try keys.optionalNumber("rope.scaling.yarn_beta_fast", above: 0) ?? 32,
                    betaSlow: try keys.optionalNumber("rope.scaling.yarn_beta_slow", above: 0) ?? 1,
                    attentionFactor: attentionFactor ?? 1)
            case "longrope": throw .missingTensor("rope_factors_long.weight")
            case let name?:
                throw .invalidMetadata(
                    key: keys.name("rope.scaling.type"), reason: "\(name.debugDescription) is not a known scaling")
            }
        }
        self.init(pairing: pairing, base: base, dimensionCount: dimensionCount, scaling: scaling)
    }

    /// The same for layers that see only a window, where a family treats them differently.
    func forSlidingLayers(base: Float?, isScaled: Bool) -> RoPEConfiguration {
        RoPEConfiguration(
            pairing: pairing, base: base ?? self.base, dimensionCount: frequencies.count * 2,
            scaling: isScaled ? scaling : .none)
    }
}

extension GGUFFile {
    /// The numbers of a small F32 tensor of RoPE factors, each of which must be positive.
    fileprivate func ropeFactors(_ name: String, count: Int) throws(InferenceError) -> [Float]? {
        guard let tensor = tensor(name) else { return nil }
        guard tensor.elementCount == count else {
            throw .wrongShape(tensor: name, expected: [count], actual: tensor.shape)
        }
        guard tensor.type == .f32 else {
            throw .unsupportedTensorType(tensor: name, type: tensor.type.name, reason: "factors must be F32")
        }
        let factors: [Float]
        do { factors = try floats(of: tensor) } catch { throw .gguf(error) }
        guard factors.allSatisfy({ $0.isFinite && $0 > 0 }) else {
            throw .invalidMetadata(key: name, reason: "a factor is not a positive number")
        }
        return factors
    }
}
