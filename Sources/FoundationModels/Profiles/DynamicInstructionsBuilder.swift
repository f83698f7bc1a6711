/// Builds dynamic instructions from the statements of a block: instructions, tools, conditions.
@resultBuilder
public struct DynamicInstructionsBuilder {}

extension DynamicInstructionsBuilder {
    public static func buildExpression<T>(_ expression: T) -> some DynamicInstructions where T: Tool {
        ToolInstructions(tool: expression)
    }

    public static func buildExpression<T>(_ expression: T) -> T where T: DynamicInstructions { expression }

    public static func buildExpression(_ tools: [any Tool]) -> some DynamicInstructions {
        DynamicInstructionsForEach(tools.indices, id: \.self) { ToolInstructions(tool: tools[$0]) }
    }

    @_disfavoredOverload
    public static func buildBlock<each Content>(
        _ contents: repeat each Content
    ) -> TupleDynamicInstructions<repeat each Content> where repeat each Content: DynamicInstructions {
        TupleDynamicInstructions(repeat each contents)
    }

    public static func buildBlock<T>(_ content: T) -> T where T: DynamicInstructions { content }

    public static func buildBlock() -> EmptyDynamicInstructions { EmptyDynamicInstructions() }

    public static func buildEither<TrueContent, FalseContent>(
        first content: TrueContent
    ) -> ConditionalDynamicInstructions<TrueContent, FalseContent>
    where TrueContent: DynamicInstructions, FalseContent: DynamicInstructions {
        ConditionalDynamicInstructions(.trueContent(content))
    }

    public static func buildEither<TrueContent, FalseContent>(
        second content: FalseContent
    ) -> ConditionalDynamicInstructions<TrueContent, FalseContent>
    where TrueContent: DynamicInstructions, FalseContent: DynamicInstructions {
        ConditionalDynamicInstructions(.falseContent(content))
    }

    public static func buildOptional<Content>(_ content: Content?) -> Content? where Content: DynamicInstructions {
        content
    }

    public static func buildLimitedAvailability(
        _ content: some DynamicInstructions
    ) -> AnyDynamicInstructions {
        AnyDynamicInstructions(content)
    }
}
