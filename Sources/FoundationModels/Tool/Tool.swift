import Foundation

/// A function that the model can call.
public protocol Tool<Arguments, Output>: Sendable {
    /// What the call gives back to the model.
    associatedtype Output: PromptRepresentable
    /// What the model calls the tool with.
    associatedtype Arguments: ConvertibleFromGeneratedContent

    /// The name by which the model calls the tool; the name of the type unless another is given.
    var name: String { get }
    /// What the tool does, for the model to decide by.
    var description: String { get }
    /// The schema that the arguments follow.
    var parameters: GenerationSchema { get }
    /// Whether the name, the description and the parameters are written into the instructions.
    var includesSchemaInInstructions: Bool { get }

    /// Carries out a call. Independent calls of one round run at the same time.
    @concurrent func call(arguments: Arguments) async throws -> Output
}

extension Tool {
    public var name: String { String(describing: Self.self) }
    public var includesSchemaInInstructions: Bool { true }
}

extension Tool where Arguments: Generable {
    public var parameters: GenerationSchema { Arguments.generationSchema }
}

extension Tool where Arguments == String {
    @available(
        *, unavailable,
        message: "'Tool' that uses 'String' as 'Arguments' type is unsupported. Use '@Generable' struct instead."
    )
    public var parameters: GenerationSchema { Arguments.generationSchema }
}

extension Tool where Arguments == Int {
    @available(
        *, unavailable,
        message: "'Tool' that uses 'Int' as 'Arguments' type is unsupported. Use '@Generable' struct instead."
    )
    public var parameters: GenerationSchema { Arguments.generationSchema }
}

extension Tool where Arguments == Double {
    @available(
        *, unavailable,
        message: "'Tool' that uses 'Double' as 'Arguments' type is unsupported. Use '@Generable' struct instead."
    )
    public var parameters: GenerationSchema { Arguments.generationSchema }
}

extension Tool where Arguments == Float {
    @available(
        *, unavailable,
        message: "'Tool' that uses 'Float' as 'Arguments' type is unsupported. Use '@Generable' struct instead."
    )
    public var parameters: GenerationSchema { Arguments.generationSchema }
}

extension Tool where Arguments == Decimal {
    @available(
        *, unavailable,
        message: "'Tool' that uses 'Decimal' as 'Arguments' type is unsupported. Use '@Generable' struct instead."
    )
    public var parameters: GenerationSchema { Arguments.generationSchema }
}

extension Tool where Arguments == Bool {
    @available(
        *, unavailable,
        message: "'Tool' that uses 'Bool' as 'Arguments' type is unsupported. Use '@Generable' struct instead."
    )
    public var parameters: GenerationSchema { Arguments.generationSchema }
}
