@freestanding(declaration)
public macro Playground(_ name: String? = nil, body: @escaping @MainActor () async throws -> Void) =
    #externalMacro(module: "StandInMacros", type: "PlaygroundMacro")
