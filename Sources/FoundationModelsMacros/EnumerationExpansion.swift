import SwiftSyntax
import SwiftSyntaxBuilder

/// What `@Generable` makes of an enumeration.
///
/// Without associated values a case is a string. With them it is a structure whose property `type` names the case and whose other
/// properties are the values.
struct EnumerationExpansion {
    let cases: [EnumerationCase]
    let arguments: GenerableArguments
    /// The access level of what is made; empty for the default.
    let access: String

    private var hasPayload: Bool { cases.contains { !$0.payload.isEmpty } }

    /// The property that names the case: `type`, unless an associated value has that name.
    private var discriminator: String {
        let taken = Set(cases.flatMap { $0.payload.map(\.name) })
        return ["type", "case", "kind"].first { !taken.contains($0) } ?? "caseName"
    }

    func members(besides existing: ExistingMembers) -> [DeclSyntax] {
        var members: [String] = []
        if !existing.schema { members.append(schema) }
        if !existing.content { members.append(content) }
        if !existing.partial, hasPayload { members.append(partial) }
        return members.map { "\(raw: $0)" }
    }

    private var schema: String {
        let head = prefixed(access, "nonisolated static var generationSchema: FoundationModels.GenerationSchema")
        guard hasPayload else {
            let choices = cases.map { literal($0.text) }.joined(separator: ", ")
            return """
                \(head) {
                    FoundationModels.GenerationSchema(\(arguments.schemaArguments(withNil: false)), anyOf: [\(choices)])
                }
                """
        }
        let list = cases.map { item in
            let properties = item.payload.map {
                "FoundationModels.GenerationSchema.Property(name: \(literal($0.name)), type: \($0.type).self)"
            }
            return "        (\(literal(item.text)), [\(properties.joined(separator: ", "))]),\n"
        }
        return """
            \(head) {
                FoundationModels.GenerationSchema(
                    \(arguments.schemaArguments(withNil: true)), _discriminator: \(literal(discriminator)), cases: [
            \(list.joined())    ])
            }
            """
    }

    private var content: String {
        let head = prefixed(access, "nonisolated var generatedContent: FoundationModels.GeneratedContent")
        guard hasPayload else {
            let branches = cases.map {
                "    case .\($0.identifier): FoundationModels.GeneratedContent(\(literal($0.text)))\n"
            }
            return """
                \(head) {
                    switch self {
                \(branches.joined())    }
                }
                """
        }
        var branches = ""
        for item in cases {
            let bindings = item.payload.indices.map { "let value\($0)" }.joined(separator: ", ")
            branches += "    case .\(item.identifier)\(item.payload.isEmpty ? "" : "(\(bindings))"):\n"
            branches += "        add(\(literal(discriminator)), \(literal(item.text)))\n"
            for (index, value) in item.payload.enumerated() {
                branches += "        add(\(literal(value.name)), value\(index))\n"
            }
        }
        return """
            \(head) {
            \(ContentBuilder.opening(representsNil: arguments.representsNil, isUsed: true).indented())
                switch self {
            \(branches)    }
                return FoundationModels.GeneratedContent(properties: properties, uniquingKeysWith: { _, second in second })
            }
            """
    }

    /// The type of what is known of a value while it is generated: the same cases, each value optional.
    private var partial: String {
        let list = cases.map { item in
            let values = item.payload.map { value in
                "\(value.label.map { "\($0): " } ?? "")\(value.wrappedType).PartiallyGenerated?"
            }
            return "    case \(item.identifier)\(values.isEmpty ? "" : "(\(values.joined(separator: ", ")))")\n"
        }
        let head =
            "nonisolated indirect enum PartiallyGenerated: nonisolated FoundationModels.ConvertibleFromGeneratedContent"
        return """
            \(prefixed(access, head)) {
            \(list.joined())\(reader.indented())
            }
            """
    }

    var initializer: String { reader }

    /// The initializer from content, which is the same for whole and for partial values: their types make the difference.
    private var reader: String {
        let head = prefixed(access, "nonisolated init(_ content: FoundationModels.GeneratedContent) throws")
        var branches = ""
        for item in cases {
            let values = item.payload.map { value in
                "\(value.label.map { "\($0): " } ?? "")try content.value(forProperty: \(literal(value.name)))"
            }
            branches += "    case \(literal(item.text)): self = .\(item.identifier)"
            branches += values.isEmpty ? "\n" : "(\(values.joined(separator: ", ")))\n"
        }
        let source = hasPayload ? ", forProperty: \(literal(discriminator))" : ""
        return """
            \(head) {
                let name = try content.value(FoundationModels.GeneratedContent.self\(source))
                switch name.isComplete ? try name.value(Swift.String.self) : nil {
            \(branches)    case let other:
                    throw FoundationModels.GeneratedContent.ParsingError(
                        rawContent: content.jsonString,
                        debugDescription: "\\(other.map { "'\\($0)'" } ?? "Incomplete content") is not a case of \\(Self.self).")
                }
            }
            """
    }
}
