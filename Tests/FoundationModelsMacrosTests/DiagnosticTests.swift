import Testing

@Suite("Diagnostics of macros")
struct DiagnosticTests {
    @Test(
        "What cannot be generable is told where it stands, with a way out",
        arguments: [
            (
                "@Generable final class A {\n    var a: Int = 1\n}",
                [
                    "1:1 error: '@Generable' can only be used on structs and enums.",
                    "fix-it: Change 'class' to 'struct'.",
                ],
                "@Generable struct A {\n    var a: Int = 1\n}"
            ),
            (
                "@Generable class A {}",
                [
                    "1:1 error: '@Generable' can only be used on structs and enums.",
                    "fix-it: Change 'class' to 'struct'.",
                ],
                "@Generable struct A {}"
            ),
            ("@Generable actor A {}", ["1:1 error: '@Generable' can only be used on structs and enums."], nil),
            ("@Generable protocol A {}", ["1:1 error: '@Generable' can only be used on structs and enums."], nil),
            (
                "@Generable struct A {\n    var a = 1\n    var b = \"x\"\n    var c = 1.5\n    var d = true\n}",
                [
                    "2:9 error: '@Generable' needs the type of 'a' written out.", "fix-it: Write ': Int' after 'a'.",
                    "3:9 error: '@Generable' needs the type of 'b' written out.", "fix-it: Write ': String' after 'b'.",
                    "4:9 error: '@Generable' needs the type of 'c' written out.", "fix-it: Write ': Double' after 'c'.",
                    "5:9 error: '@Generable' needs the type of 'd' written out.", "fix-it: Write ': Bool' after 'd'.",
                ],
                "@Generable struct A {\n    var a: Int = 1\n    var b: String = \"x\"\n    var c: Double = 1.5\n    var d: Bool = true\n}"
            ),
            (
                "@Generable struct A {\n    var a = make()\n}",
                [
                    "2:9 error: '@Generable' needs the type of 'a' written out.",
                    "fix-it: Write ': <#Type#>' after 'a'.",
                ],
                "@Generable struct A {\n    var a: <#Type#> = make()\n}"
            ),
            (
                "@Generable struct A {\n    let a: Int??\n}",
                [
                    "2:12 error: '@Generable' cannot generate 'a': a value is there or is not; it cannot be optional twice. Write 'Int?'.",
                    "fix-it: Write 'Int?'.",
                ],
                "@Generable struct A {\n    let a: Int?\n}"
            ),
            (
                "@Generable struct A {\n    var a: [String: Int]\n    var b: Dictionary<String, Int>?\n}",
                [
                    "2:12 error: '@Generable' cannot generate 'a': a dictionary has keys that no schema can list. Use an array of a '@Generable' struct with a key and a value.",
                    "3:12 error: '@Generable' cannot generate 'b': a dictionary has keys that no schema can list. Use an array of a '@Generable' struct with a key and a value.",
                ], nil
            ),
            (
                "@Generable struct A {\n    var a: Set<Int>\n    var b: (Int, Int)\n    var c: () -> Void\n    var d: any P\n}",
                [
                    "2:12 error: '@Generable' cannot generate 'a': a set is not generable. Use an array.",
                    "3:12 error: '@Generable' cannot generate 'b': a tuple is not generable. Use a '@Generable' struct.",
                    "4:12 error: '@Generable' cannot generate 'c': a function is not generable. Make the property computed or static.",
                    "5:12 error: '@Generable' cannot generate 'd': the type is not known. Name a '@Generable' type, or use 'GeneratedContent'.",
                ], nil
            ),
            (
                "@Generable struct A {\n    var (a, b): (Int, Int)\n}",
                ["2:9 error: '@Generable' needs every property declared by itself, not as part of a tuple."], nil
            ),
            (
                "@Generable struct A {\n    #if DEBUG\n    var a: Int\n    #endif\n}",
                ["3:5 error: '@Generable' cannot see stored properties inside '#if'. Declare the property outside."],
                nil
            ),
            ("@Generable enum A {}", ["1:17 error: '@Generable' needs an enum with at least one case."], nil),
            (
                "@Generable enum A {\n    case a\n    #if DEBUG\n    case b\n    #endif\n}",
                ["3:5 error: '@Generable' cannot see cases inside '#if'. Declare the case outside."], nil
            ),
            (
                "@Generable enum A: String {\n    case a\n    case b = \"a\"\n}",
                ["3:10 error: Two cases are both written as 'a'."], nil
            ),
            (
                "@Generable(representNilExplicitlyInGeneratedContent: flag) struct A {\n    var a: Int\n}",
                ["1:54 error: 'representNilExplicitlyInGeneratedContent' must be 'true' or 'false'."], nil
            ),
        ] as [(String, [String], String?)])
    func diagnostics(_ source: String, _ diagnostics: [String], _ fixed: String?) {
        let expansion = expand(source)
        #expect(expansion.diagnostics == diagnostics)
        #expect(expansion.fixedSource == fixed ?? source)
        // Nothing half made is left behind.
        #expect(!expansion.source.contains("generationSchema"))
    }
}
