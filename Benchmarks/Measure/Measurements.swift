/// The measurements by name. One file of this folder each.
let measurements: [String: @Sendable ([String]) async throws -> Void] = [
    "engine-speed": engineSpeed,
    "generate": generate,
    "guided": measureGuided,
    "json-schema-suite": measureSchemaSuite,
    "logits": logits,
    "maskbench": measureMaskBench,
    "random-model": measureRandomModel,
    "tokenize": tokenize,
]
