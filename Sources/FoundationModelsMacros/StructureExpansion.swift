import SwiftSyntax
import SwiftSyntaxBuilder

/// What `@Generable` makes of a structure.
struct StructureExpansion {
    let properties: [StoredProperty]
    let arguments: GenerableArguments
    /// The access level of what is made; empty for the default.
    let access: String

    private var generated: [StoredProperty] { properties.filter { !$0.isGenerationID } }
    private var identities: [StoredProperty] { properties.filter(\.isGenerationID) }

    func members(besides existing: ExistingMembers) -> [DeclSyntax] {
        var members: [String] = []
        if !existing.schema { members.append(schema) }
        if !existing.content { members.append(content) }
        if !existing.partial { members.append(partial) }
        return members.map { "\(raw: $0)" }
    }

    private var schema: String {
        let list = generated.map { "        \($0.schemaProperty),\n" }.joined()
        return """
            \(prefixed(access, "nonisolated static var generationSchema: FoundationModels.GenerationSchema")) {
                FoundationModels.GenerationSchema(
                    \(arguments.schemaArguments(withNil: true)), properties: [
            \(list)    ])
            }
            """
    }

    private var content: String {
        let head = prefixed(access, "nonisolated var generatedContent: FoundationModels.GeneratedContent")
        let id = identities.first.map { ", id: self.\($0.identifier)" } ?? ""
        let adds = generated.map { "    add(\(literal($0.name)), self.\($0.identifier))\n" }.joined()
        return """
            \(head) {
            \(ContentBuilder.opening(representsNil: arguments.representsNil, isUsed: !generated.isEmpty).indented())
            \(adds)    return FoundationModels.GeneratedContent(properties: properties\(id), uniquingKeysWith: { _, second in second })
            }
            """
    }

    /// The type of what is known of a value while it is generated: the same properties, each optional.
    private var partial: String {
        let ownID = generated.first { $0.name == "id" }
        // A property named `id` is the identity, if its type is known to be hashable; else there is none.
        let isIdentifiable = ownID.map { Self.hashableTypes.contains($0.wrappedType) } ?? true
        let protocols =
            "\(isIdentifiable ? "Swift.Identifiable, " : "")nonisolated FoundationModels.ConvertibleFromGeneratedContent"
        var declarations = ""
        var assignments = ""
        if ownID == nil {
            declarations += "    \(prefixed(access, "var id: FoundationModels.GenerationID"))\n"
            assignments += "        self.id = content.id ?? FoundationModels.GenerationID()\n"
        }
        for property in properties where !(property.isGenerationID && property.name == "id") {
            if property.isGenerationID {
                declarations += "    \(prefixed(property.access, "var \(property.identifier): \(property.type)"))\n"
                assignments += "        \(property.assignment)\n"
            } else {
                declarations +=
                    "    \(prefixed(property.access, "var \(property.identifier): \(property.wrappedType).PartiallyGenerated?"))\n"
                assignments +=
                    "        self.\(property.identifier) = try content.value(forProperty: \(literal(property.name)))\n"
            }
        }
        return """
            \(prefixed(access, "nonisolated struct PartiallyGenerated: \(protocols)")) {
            \(declarations)    \(prefixed(access, "nonisolated init(_ content: FoundationModels.GeneratedContent) throws")) {
            \(assignments)    }
            }
            """
    }

    private static let hashableTypes: Set<String> = ["String", "Int", "Bool", "Float", "Double", "Decimal"]

    var initializer: String {
        let assignments = properties.map { "    \($0.assignment)\n" }.joined()
        return """
            \(prefixed(access, "nonisolated init(_ content: FoundationModels.GeneratedContent) throws")) {
            \(assignments)}
            """
    }
}

extension StoredProperty {
    /// The statement that reads the property.
    fileprivate var assignment: String {
        if isGenerationID {
            return "self.\(identifier) = content.id\(isOptional ? "" : " ?? FoundationModels.GenerationID()")"
        }
        return "self.\(identifier) = try content.value(forProperty: \(literal(name)))"
    }

    /// The expression that describes the property in the schema.
    fileprivate var schemaProperty: String {
        var text = "FoundationModels.GenerationSchema.Property(name: \(literal(name))"
        if let description = guides.description { text += ", description: \(description)" }
        text += ", type: \(type).self"
        if !guides.guides.isEmpty { text += ", guides: [\(guides.guides.joined(separator: ", "))]" }
        return text + ")"
    }
}

/// The beginning of code that collects the properties of a structure.
enum ContentBuilder {
    /// Declares `properties` and `add`. Which of the two functions is called shows whether a type is optional, also where its name
    /// does not.
    static func opening(representsNil: Bool, isUsed: Bool) -> String {
        let declaration = "properties: [(Swift.String, any FoundationModels.ConvertibleToGeneratedContent)] = []"
        guard isUsed else { return "let \(declaration)" }
        let addOptional =
            representsNil ? "properties.append((name, value))" : "if let value { properties.append((name, value)) }"
        return """
            var \(declaration)
            func add(_ name: Swift.String, _ value: some FoundationModels.ConvertibleToGeneratedContent) {
                properties.append((name, value))
            }
            func add(_ name: Swift.String, _ value: (some FoundationModels.ConvertibleToGeneratedContent)?) {
                \(addOptional)
            }
            """
    }
}
