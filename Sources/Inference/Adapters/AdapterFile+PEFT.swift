import Foundation
import JSON

extension AdapterFile {
    /// Reads what `peft` saves: the safetensors file and `adapter_config.json` beside it. Whatever the configuration asks for
    /// beyond plain low-rank products is refused, since leaving it out would give wrong answers.
    /// Source: peft, `LoraConfig` and `get_peft_model_state_dict`.
    static func peft(_ url: URL) throws(AdapterError) -> AdapterFile {
        let configuration = try PEFTConfiguration(
            url.deletingLastPathComponent().appendingPathComponent("adapter_config.json"))
        let file = try SafetensorsFile(url)
        var a: [String: StoredTensor] = [:]
        var b: [String: StoredTensor] = [:]
        var modules: [String: String] = [:]
        for tensor in file.tensors {
            let (module, isA) = try factor(tensor.name)
            guard let matrix = matrix(of: module) else {
                throw .unknownTensor(
                    tensor.name, reason: "\(module) is no module of a supported architecture that adapters can change")
            }
            if let other = modules.updateValue(module, forKey: matrix), other != module {
                throw .unknownTensor(tensor.name, reason: "\(other) and \(module) are the same matrix")
            }
            guard tensor.shape.count == 2 else {
                throw .wrongShape(tensor: tensor.name, expected: "two dimensions", actual: tensor.shape)
            }
            let stored = StoredTensor(name: tensor.name, rows: tensor.shape[0], columns: tensor.shape[1]) {
                () throws(AdapterError) in try file.floats(of: tensor)
            }
            if isA { a[matrix] = stored } else { b[matrix] = stored }
        }
        return try AdapterFile(
            architecture: nil, hasCheckpointOrder: true, a: a, b: b,
            missingName: { "\(prefix)\(modules[$0] ?? $0).lora_\($1 ? "A" : "B").weight" },
            scale: { configuration.scale(module: modules[$0] ?? $0, rank: $1) })
    }

    private static let prefix = "base_model.model."

    /// The module that a tensor belongs to, and which of its factors it is.
    private static func factor(_ name: String) throws(AdapterError) -> (module: String, isA: Bool) {
        guard name.hasPrefix(prefix) else {
            throw .unknownTensor(name, reason: "its name does not begin with \(prefix)")
        }
        let rest = name.dropFirst(prefix.count)
        for (suffix, isA) in [(".lora_A.weight", true), (".lora_B.weight", false)] where rest.hasSuffix(suffix) {
            return (String(rest.dropLast(suffix.count)), isA)
        }
        if rest.contains("lora_embedding_") {
            throw .unknownTensor(name, reason: "adapters of the token embedding are not supported")
        }
        if rest.contains("lora_magnitude_vector") { throw .unknownTensor(name, reason: "DoRA is not supported") }
        if rest.hasSuffix("embed_tokens.weight") || rest.hasSuffix("lm_head.base_layer.weight")
            || rest == "lm_head.weight"
        {
            throw .unknownTensor(
                name, reason: "it is a copy of the base's; save the adapter with save_embedding_layers=False")
        }
        throw .unknownTensor(name, reason: "its name does not end in .lora_A.weight or .lora_B.weight")
    }

    /// The modules of a layer in transformers and the matrices of GGUF files.
    private static let layerModules = [
        "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
        "self_attn.qkv_proj": "attn_qkv", "self_attn.o_proj": "attn_output", "mlp.gate_proj": "ffn_gate",
        "mlp.up_proj": "ffn_up", "mlp.gate_up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
    ]

    /// `model.layers.3.self_attn.q_proj` is `blk.3.attn_q`. Models that also see images have their text model inside.
    private static func matrix(of module: String) -> String? {
        var parts = module.split(separator: ".", omittingEmptySubsequences: false)[...]
        while let first = parts.first, first == "model" || first == "language_model", parts.count > 1 {
            parts.removeFirst()
        }
        if parts.elementsEqual(["lm_head"]) { return "output" }
        guard parts.count > 2, parts.removeFirst() == "layers", let layer = Int(parts.removeFirst()), layer >= 0,
            let name = layerModules[parts.joined(separator: ".")]
        else { return nil }
        return "blk.\(layer).\(name)"
    }
}

/// What `adapter_config.json` says of the scale of the products.
private struct PEFTConfiguration {
    private var alpha: Float
    private var patterns: [(module: String, alpha: Float)] = []
    private var isRankStabilised: Bool

    private static let sizeLimit = 1 << 20
    /// Ways to begin training that leave the base's weights as they are; others change them, so that the adapter fits a base
    /// that nobody has.
    private static let harmlessBeginnings = ["gaussian", "eva", "orthogonal"]

    init(_ url: URL) throws(AdapterError) {
        let bytes: [UInt8]
        do {
            let handle = try FileHandle(forReadingFrom: url)
            defer { try? handle.close() }
            bytes = Array(try handle.read(upToCount: Self.sizeLimit + 1) ?? Data())
        } catch {
            throw .unreadable(path: url.path, reason: error.localizedDescription)
        }
        guard bytes.count <= Self.sizeLimit else { throw .unreadable(path: url.path, reason: "it is too large") }
        let json: JSONValue
        do { json = try JSONValue(parsing: bytes, depthLimit: 32) } catch {
            throw .unreadable(path: url.path, reason: "\(error)")
        }
        guard json.objectValue != nil else { throw .unreadable(path: url.path, reason: "it is no JSON object") }

        func refuse(_ key: String, _ reason: String) -> AdapterError { .invalidConfiguration(key: key, reason: reason) }
        guard json["peft_type"]?.stringValue == "LORA" else { throw refuse("peft_type", "it is not \"LORA\"") }
        for key in ["use_dora", "lora_bias", "fan_in_fan_out", "use_qalora", "use_bdlora"]
        where json[key]?.boolValue == true {
            throw refuse(key, "it is not supported")
        }
        for key in [
            "modules_to_save", "layer_replication", "trainable_token_indices", "target_parameters",
            "alora_invocation_tokens", "arrow_config", "kasa_config", "monteclora_config",
        ] {
            switch json[key] {
            case nil, .null?: continue
            case .array(let elements)? where elements.isEmpty: continue
            case .object(let members)? where members.isEmpty: continue
            default: throw refuse(key, "it is not supported")
            }
        }
        if let bias = json["bias"]?.stringValue, bias != "none" {
            throw refuse("bias", "trained biases are not supported")
        }
        if let beginning = json["init_lora_weights"]?.stringValue, !Self.harmlessBeginnings.contains(beginning) {
            throw refuse("init_lora_weights", "\(beginning.debugDescription) changes the base model's weights too")
        }
        guard let alpha = Self.number(json["lora_alpha"]) else { throw refuse("lora_alpha", "it is no finite number") }
        self.alpha = alpha
        isRankStabilised = json["use_rslora"]?.boolValue ?? false
        for (module, value) in json["alpha_pattern"]?.objectValue ?? [:] {
            let isPlain = module.utf8.allSatisfy { byte in
                byte == UInt8(ascii: "_") || byte == UInt8(ascii: ".") || UnicodeScalar(byte).properties.isAlphabetic
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            }
            guard isPlain else {
                throw refuse("alpha_pattern", "the regular expression \(module.debugDescription) is not supported")
            }
            guard let alpha = Self.number(value) else {
                throw refuse("alpha_pattern", "\(module) has no finite number")
            }
            patterns.append((module, alpha))
        }
    }

    private static func number(_ value: JSONValue?) -> Float? {
        guard let number = value?.numberValue else { return nil }
        let float = Float(number.doubleValue)
        return float.isFinite ? float : nil
    }

    /// Ranks that differ by module show in the shapes.
    func scale(module: String, rank: Int) -> Float {
        let alpha = patterns.first { module == $0.module || module.hasSuffix(".\($0.module)") }?.alpha ?? alpha
        return alpha / (isRankStabilised ? Float(rank).squareRoot() : Float(rank))
    }
}
