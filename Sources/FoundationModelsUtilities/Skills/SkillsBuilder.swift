/// Builds a list of skills from a block.
@resultBuilder
public struct SkillsBuilder {
    public static func buildBlock(_ components: [Skill]...) -> [Skill] { components.flatMap(\.self) }
    public static func buildExpression(_ expression: Skill) -> [Skill] { [expression] }
    public static func buildExpression(_ expression: Skill?) -> [Skill] { expression.map { [$0] } ?? [] }
    public static func buildOptional(_ component: [Skill]?) -> [Skill] { component ?? [] }
    public static func buildEither(first component: [Skill]) -> [Skill] { component }
    public static func buildEither(second component: [Skill]) -> [Skill] { component }
    public static func buildArray(_ components: [[Skill]]) -> [Skill] { components.flatMap(\.self) }
}
