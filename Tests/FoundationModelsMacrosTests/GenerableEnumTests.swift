import Testing

@Suite("@Generable on enums")
struct GenerableEnumTests {
    @Test("Cases without values")
    func plain() {
        expectExpansion(
            of: """
                @Generable(description: "A")
                enum A: Int {
                    case one, two = 2
                    case `in`
                }
                """,
            to: #"""
                enum A: Int {
                    case one, two = 2
                    case `in`

                    nonisolated static var generationSchema: FoundationModels.GenerationSchema {
                        FoundationModels.GenerationSchema(type: Self.self, description: "A", anyOf: ["one", "two", "in"])
                    }

                    nonisolated var generatedContent: FoundationModels.GeneratedContent {
                        switch self {
                        case .one: FoundationModels.GeneratedContent("one")
                        case .two: FoundationModels.GeneratedContent("two")
                        case .`in`: FoundationModels.GeneratedContent("in")
                        }
                    }
                }

                extension A: nonisolated FoundationModels.Generable {
                    nonisolated init(_ content: FoundationModels.GeneratedContent) throws {
                        let name = try content.value(FoundationModels.GeneratedContent.self)
                        switch name.isComplete ? try name.value(Swift.String.self) : nil {
                        case "one": self = .one
                        case "two": self = .two
                        case "in": self = .`in`
                        case let other:
                            throw FoundationModels.GeneratedContent.ParsingError(
                                rawContent: content.jsonString,
                                debugDescription: "\(other.map { "'\($0)'" } ?? "Incomplete content") is not a case of \(Self.self).")
                        }
                    }
                }
                """#)
    }

    @Test("Raw values that are strings are what the content says")
    func rawValues() {
        let source = expand(
            ##"@Generable enum A: String { case a = "first \"one\"", b, c = #"with \d"#, d = "with-dash é" }"##
        ).source
        #expect(source.contains(#"anyOf: ["first \"one\"", "b", "with \\d", "with-dash é"]"#))
        #expect(source.contains(#"case .a: FoundationModels.GeneratedContent("first \"one\"")"#))
        #expect(source.contains(#"case "with \\d": self = .c"#))
    }

    @Test("Cases with values")
    func payloads() {
        expectExpansion(
            of: """
                @Generable
                public enum A {
                    case circle(radius: Double)
                    case pair(Int, _ b: String?), none
                }
                """,
            to: #"""
                public enum A {
                    case circle(radius: Double)
                    case pair(Int, _ b: String?), none

                    public nonisolated static var generationSchema: FoundationModels.GenerationSchema {
                        FoundationModels.GenerationSchema(
                            type: Self.self, _discriminator: "type", cases: [
                            ("circle", [FoundationModels.GenerationSchema.Property(name: "radius", type: Double.self)]),
                            ("pair", [FoundationModels.GenerationSchema.Property(name: "value1", type: Int.self), FoundationModels.GenerationSchema.Property(name: "value2", type: String?.self)]),
                            ("none", []),
                        ])
                    }

                    public nonisolated var generatedContent: FoundationModels.GeneratedContent {
                        var properties: [(Swift.String, any FoundationModels.ConvertibleToGeneratedContent)] = []
                        func add(_ name: Swift.String, _ value: some FoundationModels.ConvertibleToGeneratedContent) {
                            properties.append((name, value))
                        }
                        func add(_ name: Swift.String, _ value: (some FoundationModels.ConvertibleToGeneratedContent)?) {
                            if let value { properties.append((name, value)) }
                        }
                        switch self {
                        case .circle(let value0):
                            add("type", "circle")
                            add("radius", value0)
                        case .pair(let value0, let value1):
                            add("type", "pair")
                            add("value1", value0)
                            add("value2", value1)
                        case .none:
                            add("type", "none")
                        }
                        return FoundationModels.GeneratedContent(properties: properties, uniquingKeysWith: { _, second in second })
                    }

                    public nonisolated indirect enum PartiallyGenerated: nonisolated FoundationModels.ConvertibleFromGeneratedContent {
                        case circle(radius: Double.PartiallyGenerated?)
                        case pair(Int.PartiallyGenerated?, String.PartiallyGenerated?)
                        case none
                        public nonisolated init(_ content: FoundationModels.GeneratedContent) throws {
                            let name = try content.value(FoundationModels.GeneratedContent.self, forProperty: "type")
                            switch name.isComplete ? try name.value(Swift.String.self) : nil {
                            case "circle": self = .circle(radius: try content.value(forProperty: "radius"))
                            case "pair": self = .pair(try content.value(forProperty: "value1"), try content.value(forProperty: "value2"))
                            case "none": self = .none
                            case let other:
                                throw FoundationModels.GeneratedContent.ParsingError(
                                    rawContent: content.jsonString,
                                    debugDescription: "\(other.map { "'\($0)'" } ?? "Incomplete content") is not a case of \(Self.self).")
                            }
                        }
                    }
                }

                extension A: nonisolated FoundationModels.Generable {
                    public nonisolated init(_ content: FoundationModels.GeneratedContent) throws {
                        let name = try content.value(FoundationModels.GeneratedContent.self, forProperty: "type")
                        switch name.isComplete ? try name.value(Swift.String.self) : nil {
                        case "circle": self = .circle(radius: try content.value(forProperty: "radius"))
                        case "pair": self = .pair(try content.value(forProperty: "value1"), try content.value(forProperty: "value2"))
                        case "none": self = .none
                        case let other:
                            throw FoundationModels.GeneratedContent.ParsingError(
                                rawContent: content.jsonString,
                                debugDescription: "\(other.map { "'\($0)'" } ?? "Incomplete content") is not a case of \(Self.self).")
                        }
                    }
                }
                """#)
    }

    @Test("A value named type moves the name of the case aside")
    func discriminator() {
        #expect(expand("@Generable enum A { case a(type: Int) }").source.contains("_discriminator: \"case\""))
        #expect(
            expand("@Generable enum A { case a(type: Int, case: Int) }").source.contains("_discriminator: \"kind\""))
    }

    @Test("Default values of cases do not matter")
    func defaults() {
        let source = expand("@Generable enum A { case a(x: Int = 3) }").source
        #expect(source.contains("case a(x: Int.PartiallyGenerated?)"))
    }
}
