/// The measurements by name. One file of this folder each.
let measurements: [String: @Sendable ([String]) async throws -> Void] = [
    "engine-speed": engineSpeed,
    "generate": generate,
    "guided": measureGuided,
    "json-parsing": measureJSONParsing,
    "logits": logits,
    "random-model": measureRandomModel,
    "tokenize": tokenize,
]
