import Foundation
import Testing

@Suite("@Generable on structs")
struct GenerableStructTests {
    @Test("A structure")
    func structure() {
        expectExpansion(
            of: """
                @Generable(description: "A")
                struct A {
                    @Guide(description: "The text", .anyOf(["x", "y"]))
                    var text: String
                    let count: Int?
                }
                """,
            to: #"""
                struct A {
                    var text: String
                    let count: Int?

                    nonisolated static var generationSchema: FoundationModels.GenerationSchema {
                        FoundationModels.GenerationSchema(
                            type: Self.self, description: "A", properties: [
                            FoundationModels.GenerationSchema.Property(name: "text", description: "The text", type: String.self, guides: [.anyOf(["x", "y"])]),
                            FoundationModels.GenerationSchema.Property(name: "count", type: Int?.self),
                        ])
                    }

                    nonisolated var generatedContent: FoundationModels.GeneratedContent {
                        var properties: [(Swift.String, any FoundationModels.ConvertibleToGeneratedContent)] = []
                        func add(_ name: Swift.String, _ value: some FoundationModels.ConvertibleToGeneratedContent) {
                            properties.append((name, value))
                        }
                        func add(_ name: Swift.String, _ value: (some FoundationModels.ConvertibleToGeneratedContent)?) {
                            if let value { properties.append((name, value)) }
                        }
                        add("text", self.text)
                        add("count", self.count)
                        return FoundationModels.GeneratedContent(properties: properties, uniquingKeysWith: { _, second in second })
                    }

                    nonisolated struct PartiallyGenerated: Swift.Identifiable, nonisolated FoundationModels.ConvertibleFromGeneratedContent {
                        var id: FoundationModels.GenerationID
                        var text: String.PartiallyGenerated?
                        var count: Int.PartiallyGenerated?
                        nonisolated init(_ content: FoundationModels.GeneratedContent) throws {
                            self.id = content.id ?? FoundationModels.GenerationID()
                            self.text = try content.value(forProperty: "text")
                            self.count = try content.value(forProperty: "count")
                        }
                    }
                }

                extension A: nonisolated FoundationModels.Generable {
                    nonisolated init(_ content: FoundationModels.GeneratedContent) throws {
                        self.text = try content.value(forProperty: "text")
                        self.count = try content.value(forProperty: "count")
                    }
                }
                """#)
    }

    @Test("Only what is stored and can be set is generated")
    func storedProperties() {
        expectProperties(
            of: """
                var a: Int
                let b: Int
                var c: Int = 1
                let constant: Int = 1
                static var shared: Int = 1
                lazy var later: Int = 1
                var computed: Int { 1 }
                var accessors: Int { get { 1 } set {} }
                var observed: Int = 1 { didSet {} }
                var d, e: Int
                private(set) var f: Int
                func method() {}
                """,
            ["a", "b", "c", "observed", "d", "e", "f"])
    }

    @Test("A structure without properties")
    func empty() {
        let source = expand("@Generable struct A {}").source
        #expect(
            source.contains("let properties: [(Swift.String, any FoundationModels.ConvertibleToGeneratedContent)] = []")
        )
        #expect(!source.contains("func add"))
    }

    @Test(
        "Types as they are written, optionals in each spelling",
        arguments: [
            ("Int?", "Int?", "Int"), ("Optional<Int>", "Int?", "Int"), ("Int!", "Int?", "Int"),
            ("(Int)?", "Int?", "Int"),
            ("[Int]", "[Int]", "[Int]"), ("[Int]?", "[Int]?", "[Int]"), ("[Int?]", "[Int?]", "[Int?]"),
            ("Outer.Inner", "Outer.Inner", "Outer.Inner"), ("Box<Int>?", "Box<Int>?", "Box<Int>"),
            ("Array<Int>", "Array<Int>", "Array<Int>"), ("Swift.String", "Swift.String", "Swift.String"),
        ])
    func types(_ written: String, _ type: String, _ wrapped: String) {
        let expansion = expand("@Generable struct A {\n    var a: \(written)\n}")
        #expect(expansion.diagnostics == [])
        #expect(expansion.source.contains("(name: \"a\", type: \(type).self)"))
        #expect(expansion.source.contains("var a: \(wrapped).PartiallyGenerated?\n"))
    }

    @Test(
        "Members have the access level of the type",
        arguments: [
            ("public ", "public "), ("package ", "package "), ("internal ", ""), ("", ""), ("fileprivate ", ""),
            ("private ", ""),
        ])
    func access(_ written: String, _ made: String) {
        let source = expand("@Generable \(written)struct A {\n    \(written)var a: Int\n    var b: Int\n}").source
        #expect(source.contains("\n    \(made)nonisolated static var generationSchema"))
        #expect(source.contains("\n    \(made)nonisolated var generatedContent"))
        #expect(source.contains("\n    \(made)nonisolated struct PartiallyGenerated"))
        #expect(source.contains("\n        \(made)var id: "))
        #expect(source.contains("\n        \(made)nonisolated init(_ content"))
        #expect(source.contains("\n    \(made)nonisolated init(_ content"))
        // A property is as visible in the partial type as it is in the type.
        #expect(source.contains("\n        \(written)var a: Int.PartiallyGenerated?"))
        #expect(source.contains("\n        var b: Int.PartiallyGenerated?"))
    }

    @Test("The members of a public extension are public")
    func publicExtension() {
        let source = expand("public extension Space {\n    @Generable struct A {\n        var a: Int\n    }\n}").source
        #expect(source.contains("public nonisolated static var generationSchema"))
        let plain = expand("extension Space {\n    @Generable struct A {\n        var a: Int\n    }\n}").source
        #expect(plain.contains("    nonisolated static var generationSchema"))
        #expect(!plain.contains("public"))
    }

    @Test("Nil is written when the type asks for it")
    func representationOfNil() {
        let source = expand("@Generable(representNilExplicitlyInGeneratedContent: true) struct A {\n    var a: Int?\n}")
            .source
        #expect(source.contains("type: Self.self, representNilExplicitlyInGeneratedContent: true, properties:"))
        #expect(!source.contains("if let value"))
        let plain = expand("@Generable(representNilExplicitlyInGeneratedContent: false) struct A {\n    var a: Int?\n}")
            .source
        #expect(plain.contains("type: Self.self, properties:"))
        #expect(plain.contains("if let value"))
    }

    @Test("A name of its own")
    func name() {
        let source = expand("@Generable(name: \"B\", description: \"c\") struct A {\n    var a: Int\n}").source
        #expect(
            source.contains(
                "type: Self.self, _name: \"B\", description: \"c\", representNilExplicitlyInGeneratedContent: false, properties:"
            ))
        let bare = expand("@Generable(name: constant) struct A {\n    var a: Int\n}").source
        #expect(bare.contains("type: Self.self, _name: constant, description: nil,"))
    }

    @Test("Identities are filled in and not described")
    func identity() {
        let source = expand("@Generable struct A {\n    var id: GenerationID\n    var a: Int\n}").source
        #expect(!source.contains("name: \"id\""))
        #expect(source.components(separatedBy: "self.id = content.id ?? FoundationModels.GenerationID()").count == 3)
        #expect(source.contains("GeneratedContent(properties: properties, id: self.id, uniquingKeysWith"))
        let other = expand("@Generable struct A {\n    var token: GenerationID?\n    var other = GenerationID()\n}")
            .source
        #expect(other.contains("self.token = content.id\n"))
        #expect(other.contains("self.other = content.id ?? FoundationModels.GenerationID()\n"))
    }

    @Test("A property named id is the identity of the partial type if its type is hashable")
    func ownID() {
        let known = expand("@Generable struct A {\n    var id: Int\n}").source
        #expect(known.contains("struct PartiallyGenerated: Swift.Identifiable, nonisolated"))
        #expect(known.contains("var id: Int.PartiallyGenerated?"))
        let unknown = expand("@Generable struct A {\n    var id: Code\n}").source
        #expect(unknown.contains("struct PartiallyGenerated: nonisolated"))
    }

    @Test("Members written by hand are kept")
    func handWritten() {
        let members = [
            "static var generationSchema: GenerationSchema { fatalError() }",
            "var generatedContent: GeneratedContent { fatalError() }",
            "struct PartiallyGenerated {}",
            "init(_ content: FoundationModels.GeneratedContent) throws { fatalError() }",
        ]
        for (index, member) in members.enumerated() {
            let source = expand("@Generable struct A {\n    var a: Int\n    \(member)\n}").source
            let made = [
                "nonisolated static var generationSchema", "nonisolated var generatedContent",
                "nonisolated struct PartiallyGenerated",
                "extension A: nonisolated FoundationModels.Generable {\n    nonisolated init",
            ]
            for (other, text) in made.enumerated() {
                #expect(source.contains(text) == (other != index), "\(member), \(text)")
            }
        }
        let other = expand("@Generable struct A {\n    var a: Int\n    init(_ content: String) {}\n}").source
        #expect(other.contains("nonisolated init(_ content: FoundationModels.GeneratedContent) throws"))
    }

    @Test("Names that are keywords")
    func keywords() {
        let source = expand("@Generable struct A {\n    var `default`: Int\n    var `two words`: Int\n}").source
        #expect(source.contains("(name: \"default\", type: Int.self)"))
        #expect(source.contains("add(\"default\", self.`default`)"))
        #expect(source.contains("self.`two words` = try content.value(forProperty: \"two words\")"))
    }

    /// The names of the properties that the schema gets.
    private func expectProperties(
        of members: String, _ names: [String], sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let expansion = expand("@Generable struct A {\n\(members)\n}")
        #expect(expansion.diagnostics == [], sourceLocation: sourceLocation)
        let found = expansion.source.matches(of: /Property\(name: "(\w+)"/).map { String($0.output.1) }
        #expect(found == names, sourceLocation: sourceLocation)
    }
}
