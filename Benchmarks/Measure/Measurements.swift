/// The measurements by name. One file of this folder each.
let measurements: [String: @Sendable ([String]) async throws -> Void] = [
    "chat-templates": chatTemplates,
    "engine-speed": engineSpeed,
    "generate": generate,
    "guided": measureGuided,
    "logits": logits,
    "memory": memory,
    "random-model": measureRandomModel,
    "tokenize": tokenize,
    "tokenizer-ids": measureTokenizerIds,
]
