/// The measurements by name. One file of this folder each.
let measurements: [String: @Sendable ([String]) async throws -> Void] = [
    "engine-speed": engineSpeed,
    "generate": generate,
    "logits": logits,
    "tokenize": tokenize,
]
