import Testing

@Suite("@Guide")
struct GuideTests {
    @Test(
        "Every spelling",
        arguments: [
            (#"@Guide(description: "d")"#, #"description: "d", type: T.self"#),
            (#"@Guide("d")"#, #"description: "d", type: T.self"#),
            (#"@FoundationModels.Guide("d")"#, #"description: "d", type: T.self"#),
            (#"@Guide(description: "d", .count(3))"#, #"description: "d", type: T.self, guides: [.count(3)]"#),
            (#"@Guide("d", .count(3))"#, #"description: "d", type: T.self, guides: [.count(3)]"#),
            (#"@Guide(.minimum(1), .maximum(2))"#, #"type: T.self, guides: [.minimum(1), .maximum(2)]"#),
            (#"@Guide(description: "d", /[a-z]+/)"#, #"description: "d", type: T.self, guides: [/[a-z]+/]"#),
            (#"@Guide(#/a/b/#)"#, #"type: T.self, guides: [#/a/b/#]"#),
            (#"@Guide(Regex { "a" })"#, #"type: T.self, guides: [Regex { "a" }]"#),
            (
                #"@Guide(.minimum(1)) @Guide(description: "d")"#,
                #"description: "d", type: T.self, guides: [.minimum(1)]"#
            ),
            (
                #"@Guide("a") @Guide("b", .minimum(1)) @Guide(.maximum(2))"#,
                #"description: "a" + " " + "b", type: T.self, guides: [.minimum(1), .maximum(2)]"#
            ),
            (#"@Guide(/a/) @Guide(.anyOf(["a"]))"#, #"type: T.self, guides: [.pattern(/a/), .anyOf(["a"])]"#),
            (#"@Guide(description: Self.text)"#, #"description: Self.text, type: T.self"#),
            (#"@Guide(description: "a\(b)")"#, #"description: "a\(b)", type: T.self"#),
            (##"@Guide(description: #"a\d"#)"##, ##"description: #"a\d"#, type: T.self"##),
            (#"@Guide(description: nil, .count(1))"#, #"type: T.self, guides: [.count(1)]"#),
            (#"@Other @Guide("d") @available(macOS 26, *)"#, #"description: "d", type: T.self"#),
        ])
    func spellings(_ attributes: String, _ property: String) {
        let expansion = expand("@Generable struct A {\n    \(attributes)\n    var a: T\n}")
        #expect(expansion.diagnostics == [])
        #expect(expansion.source.contains("Property(name: \"a\", \(property))"), "\(expansion.source)")
    }

    @Test("A string over several lines is put on one")
    func multipleLines() {
        let source = """
            @Generable struct A {
                @Guide(description: \"""
                    First "line",
                      second \\\\ line.\\t\\
                     joined
                    \""")
                var a: T
            }
            """
        let description = #"description: "First \"line\",\n  second \\ line.\t joined", type: T.self"#
        #expect(expand(source).source.contains(description))
    }

    @Test("Where nothing reads it, a warning says so")
    func misplaced() {
        let text = "warning: '@Guide' says something only on a stored property of a '@Generable' struct."
        for declaration in ["func f() {}", "static var s: Int = 1", "var c: Int { 1 }", "enum E {}"] {
            let expansion = expand("struct A {\n    @Guide(description: \"d\") \(declaration)\n}")
            #expect(expansion.diagnostics == ["2:5 \(text)"])
        }
    }
}
