/// The measurements by name. One file of this folder each.
let measurements: [String: @Sendable ([String]) async throws -> Void] = [
    "chat-templates": chatTemplates,
    "generate": generate,
]
