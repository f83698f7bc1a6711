/// Builds instructions from the statements of a block: values, conditions and loops.
@resultBuilder
public struct InstructionsBuilder {}

extension InstructionsBuilder {
    public static func buildBlock<each Component: InstructionsRepresentable>(_ components: repeat each Component)
        -> Instructions
    {
        Instructions(repeat each components)
    }

    public static func buildArray(_ instructions: [some InstructionsRepresentable]) -> Instructions {
        Instructions(instructions)
    }

    public static func buildEither(first component: some InstructionsRepresentable) -> Instructions {
        Instructions(component)
    }

    public static func buildEither(second component: some InstructionsRepresentable) -> Instructions {
        Instructions(component)
    }

    public static func buildOptional(_ instructions: Instructions?) -> Instructions {
        instructions ?? Instructions()
    }

    public static func buildLimitedAvailability(_ instructions: some InstructionsRepresentable) -> Instructions {
        Instructions(instructions)
    }

    @_disfavoredOverload
    public static func buildExpression<Expression: InstructionsRepresentable>(_ expression: Expression) -> Expression {
        expression
    }

    public static func buildExpression(_ expression: Instructions) -> Instructions {
        expression
    }

    /// Names the fault when a value of another type stands in a block.
    @available(*, unavailable, message: "Only `Instructions` and `InstructionsRepresentable` are supported.")
    public static func buildExpression<T>(_ expression: T) -> Instructions {
        fatalError("unavailable")
    }
}
