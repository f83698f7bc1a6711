import Testing

@Suite("@SessionPropertyEntry")
struct SessionPropertyEntryTests {
    @Test("A variable with a type")
    func typed() {
        let expansion = expand(
            "extension SessionPropertyValues {\n    @SessionPropertyEntry public var a: [Int] = []\n}")
        #expect(expansion.diagnostics == [])
        #expect(expansion.source.contains("self[__Key_a.self]\n"))
        #expect(expansion.source.contains("self[__Key_a.self] = newValue\n"))
        #expect(
            expansion.source.contains(
                """
                    nonisolated private struct __Key_a: nonisolated FoundationModels.SessionPropertyKey {
                        nonisolated static var defaultValue: [Int] { [] }
                    }
                """))
    }

    @Test("A variable whose type follows from its value, and an optional without one")
    func untyped() {
        let source = expand(
            "extension SessionPropertyValues {\n    @SessionPropertyEntry var a = 3\n    @SessionPropertyEntry var b: Int?\n}"
        ).source
        #expect(
            source.contains(
                "@FoundationModels.__SessionPropertyEntryDefaultValue nonisolated static var defaultValue = 3\n"))
        #expect(source.contains("nonisolated static var defaultValue: Int? { nil }\n"))
    }

    @Test(
        "What cannot be an entry",
        arguments: [
            (
                "let a: Int = 1",
                "5 error: '@SessionPropertyEntry' can only be attached to a 'var' of 'SessionPropertyValues'."
            ),
            (
                "static var a: Int = 1",
                "5 error: '@SessionPropertyEntry' can only be attached to a 'var' of 'SessionPropertyValues'."
            ),
            ("var a: Int", "31 error: '@SessionPropertyEntry' needs a default value."),
            (
                "var a: Int { 1 }",
                "31 error: '@SessionPropertyEntry' makes the accessors; the variable cannot have its own."
            ),
        ])
    func diagnostics(_ declaration: String, _ diagnostic: String) {
        let expansion = expand("extension SessionPropertyValues {\n    @SessionPropertyEntry \(declaration)\n}")
        #expect(expansion.diagnostics == ["2:\(diagnostic)"])
        #expect(!expansion.source.contains("__Key_a: "))
    }
}
