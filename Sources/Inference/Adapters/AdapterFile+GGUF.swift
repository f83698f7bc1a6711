import Foundation

extension AdapterFile {
    /// Reads llama.cpp's form: `general.type` is `adapter`, `adapter.type` is `lora`, `adapter.lora.alpha` a number, and each
    /// changed matrix `NAME.weight` has the tensors `NAME.weight.lora_a` and `NAME.weight.lora_b`. The scale is alpha / rank,
    /// and 1 where alpha is 0.
    /// Source: llama.cpp, convert_lora_to_gguf.py and src/llama-adapter.cpp.
    static func gguf(_ url: URL) throws(AdapterError) -> AdapterFile {
        let file: GGUFFile
        do { file = try GGUFFile(url) } catch { throw .gguf(error) }
        func text(_ key: String) -> String? { file.metadata[key]?.stringValue }
        guard text("general.type") == "adapter" else {
            throw .invalidConfiguration(
                key: "general.type",
                reason: "it is \((text("general.type") ?? "missing").debugDescription), not \"adapter\"")
        }
        guard text("adapter.type") == "lora" else {
            throw .invalidConfiguration(
                key: "adapter.type",
                reason: "it is \((text("adapter.type") ?? "missing").debugDescription), not \"lora\"")
        }
        guard let architecture = text("general.architecture") else {
            throw .invalidConfiguration(key: "general.architecture", reason: "it is missing")
        }
        guard let alpha = file.metadata["adapter.lora.alpha"]?.floatValue, alpha.isFinite else {
            throw .invalidConfiguration(key: "adapter.lora.alpha", reason: "it is missing or no finite number")
        }
        guard file.metadata["adapter.alora.invocation_tokens"] == nil else {
            throw .invalidConfiguration(
                key: "adapter.alora.invocation_tokens",
                reason: "adapters that begin to work at a token are not supported")
        }
        let reader: TensorReader
        do { reader = try TensorReader(file) } catch { throw .gguf(error) }

        var factors: [String: [String: StoredTensor]] = ["lora_a": [:], "lora_b": [:]]
        for tensor in file.tensors {
            let parts = tensor.name.components(separatedBy: ".weight.")
            guard parts.count == 2, factors[parts[1]] != nil else {
                throw .unknownTensor(tensor.name, reason: "its name does not end in .weight.lora_a or .weight.lora_b")
            }
            guard tensor.shape.count == 2 else {
                throw .wrongShape(tensor: tensor.name, expected: "two dimensions", actual: tensor.shape)
            }
            factors[parts[1]]![parts[0]] = StoredTensor(name: tensor.name, rows: tensor.rows, columns: tensor.columns) {
                () throws(AdapterError) in
                do throws(GGUFError) { return try reader.floats(of: tensor) } catch { throw .gguf(error) }
            }
        }
        return try AdapterFile(
            architecture: architecture, hasCheckpointOrder: false, a: factors["lora_a"]!, b: factors["lora_b"]!,
            missingName: { "\($0).weight.lora_\($1 ? "a" : "b")" }, scale: { alpha == 0 ? 1 : alpha / Float($1) })
    }
}
