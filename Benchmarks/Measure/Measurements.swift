/// The measurements by name. One file of this folder each.
let measurements: [String: @Sendable ([String]) async throws -> Void] = [
    "chat-templates": chatTemplates,
    "engine-speed": engineSpeed,
    "extraction": measureExtraction,
    "generate": generate,
    "guided": measureGuided,
    "kernel-speed": kernelSpeed,
    "logits": logits,
    "random-model": measureRandomModel,
    "tokenize": tokenize,
    "tokenizer-ids": measureTokenizerIds,
]
