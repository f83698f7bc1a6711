/// The measurements by name. One file of this folder each.
let measurements: [String: @Sendable ([String]) async throws -> Void] = [
    "chat-templates": chatTemplates,
    "conformance": measureConformance,
    "engine-speed": engineSpeed,
    "extraction": measureExtraction,
    "generate": generate,
    "guided": measureGuided,
    "json-parsing": measureJSONParsing,
    "json-schema-suite": measureSchemaSuite,
    "kernel-speed": kernelSpeed,
    "logits": logits,
    "maskbench": measureMaskBench,
    "memory": memory,
    "random-model": measureRandomModel,
    "stream-arrivals": measureStreamArrivals,
    "tokenize": tokenize,
    "tokenizer-ids": measureTokenizerIds,
]
