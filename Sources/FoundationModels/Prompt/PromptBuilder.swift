/// Builds a prompt from the statements of a block: values, conditions and loops.
@resultBuilder
public struct PromptBuilder {}

extension PromptBuilder {
    public static func buildBlock<each Component: PromptRepresentable>(_ components: repeat each Component) -> Prompt {
        Prompt(repeat each components)
    }

    public static func buildArray(_ prompts: [some PromptRepresentable]) -> Prompt {
        Prompt(prompts)
    }

    public static func buildEither(first component: some PromptRepresentable) -> Prompt {
        Prompt(component)
    }

    public static func buildEither(second component: some PromptRepresentable) -> Prompt {
        Prompt(component)
    }

    public static func buildOptional(_ component: Prompt?) -> Prompt {
        component ?? Prompt()
    }

    public static func buildLimitedAvailability(_ prompt: some PromptRepresentable) -> Prompt {
        Prompt(prompt)
    }

    @_disfavoredOverload
    public static func buildExpression<Expression: PromptRepresentable>(_ expression: Expression) -> Expression {
        expression
    }

    public static func buildExpression(_ expression: Prompt) -> Prompt {
        expression
    }

    /// Names the fault when a value of another type stands in a block.
    @available(*, unavailable, message: "Only `Prompt` and `PromptRepresentable` are supported.")
    public static func buildExpression<T>(_ expression: T) -> Prompt {
        fatalError("unavailable")
    }
}
