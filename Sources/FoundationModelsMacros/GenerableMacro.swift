import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@Generable`: the members and the conformance that make a structure or an enumeration generable.
///
/// Everything that it makes is `nonisolated`, so that it works in programs whose code is isolated to the main actor by default, and has
/// the access level of the type. What the program has written by hand is left alone.
package struct GenerableMacro {
    package static var formatMode: FormatMode { .disabled }
}

extension GenerableMacro: MemberMacro {
    package static func expansion(
        of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
        conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        guard let arguments = GenerableArguments(node, in: context) else { return [] }
        let existing = ExistingMembers(declaration.memberBlock.members)
        if let structure = declaration.as(StructDeclSyntax.self) {
            guard let properties = StoredProperty.all(of: structure.memberBlock.members, in: context) else { return [] }
            let expansion = StructureExpansion(
                properties: properties, arguments: arguments, access: access(of: structure.modifiers, in: context))
            return expansion.members(besides: existing)
        }
        if let enumeration = declaration.as(EnumDeclSyntax.self) {
            guard let cases = EnumerationCase.all(of: enumeration, in: context) else { return [] }
            let expansion = EnumerationExpansion(
                cases: cases, arguments: arguments, access: access(of: enumeration.modifiers, in: context))
            return expansion.members(besides: existing)
        }
        context.diagnose(
            MacroDiagnostic.notStructOrEnum.at(node, fixIts: changeToStruct(declaration).map { [$0] } ?? []))
        return []
    }

    /// The access level that members need to satisfy the protocol's requirements; empty when the default does.
    private static func access(of modifiers: DeclModifierListSyntax, in context: some MacroExpansionContext) -> String {
        let written = modifiers.access
        if written.isEmpty, let parent = context.lexicalContext.first?.as(ExtensionDeclSyntax.self) {
            // The members of `public extension` are public themselves.
            return ["public", "package"].contains(parent.modifiers.access) ? parent.modifiers.access : ""
        }
        return ["public", "package"].contains(written) ? written : ""
    }

    private static func changeToStruct(_ declaration: some DeclGroupSyntax) -> FixIt? {
        guard let type = declaration.as(ClassDeclSyntax.self) else { return nil }
        let keyword = type.classKeyword
        let structKeyword = TokenSyntax.keyword(
            .struct, leadingTrivia: keyword.leadingTrivia, trailingTrivia: keyword.trailingTrivia)
        var changes: [FixIt.Change] = [.replace(oldNode: Syntax(keyword), newNode: Syntax(structKeyword))]
        if let final = type.modifiers.first(where: { $0.name.tokenKind == .keyword(.final) }) {
            let nothing = DeclModifierSyntax(name: .identifier("", leadingTrivia: final.leadingTrivia))
            changes.append(.replace(oldNode: Syntax(final), newNode: Syntax(nothing)))
        }
        return FixIt(message: MacroFixIt(message: "Change 'class' to 'struct'."), changes: changes)
    }
}

extension GenerableMacro: ExtensionMacro {
    package static func expansion(
        of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
        providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
        // What is wrong has been told where the members are made.
        let silent = SilentContext(context)
        guard let arguments = GenerableArguments(node, in: silent) else { return [] }
        let initializer: String?
        if let structure = declaration.as(StructDeclSyntax.self) {
            guard let properties = StoredProperty.all(of: structure.memberBlock.members, in: silent) else { return [] }
            initializer =
                StructureExpansion(
                    properties: properties, arguments: arguments, access: access(of: structure.modifiers, in: context)
                ).initializer
        } else if let enumeration = declaration.as(EnumDeclSyntax.self) {
            guard let cases = EnumerationCase.all(of: enumeration, in: silent) else { return [] }
            initializer =
                EnumerationExpansion(
                    cases: cases, arguments: arguments, access: access(of: enumeration.modifiers, in: context)
                ).initializer
        } else {
            return []
        }
        let body = ExistingMembers(declaration.memberBlock.members).initializer ? nil : initializer
        // A conformance that the program declares itself is not asked for.
        let conformance = protocols.isEmpty ? "" : ": nonisolated FoundationModels.Generable"
        if protocols.isEmpty, body == nil { return [] }
        let text = "extension \(type.trimmedDescription)\(conformance) {\n\(body.map { $0.indented() + "\n" } ?? "")}"
        return [try ExtensionDeclSyntax("\(raw: text)")]
    }
}

/// The arguments of `@Generable`.
struct GenerableArguments {
    /// Expressions; nil when they are not given.
    let name: String?
    let description: String?
    let representsNil: Bool

    init?(_ node: AttributeSyntax, in context: some MacroExpansionContext) {
        func text(_ label: String) -> String? {
            guard let expression = node.argument(label), !expression.is(NilLiteralExprSyntax.self) else { return nil }
            return pasted(expression)
        }
        name = text("name")
        description = text("description")
        guard let representsNil = node.argument("representNilExplicitlyInGeneratedContent") else {
            self.representsNil = false
            return
        }
        guard let value = representsNil.as(BooleanLiteralExprSyntax.self) else {
            context.diagnose(MacroDiagnostic.explicitNilNotLiteral.at(representsNil))
            return nil
        }
        self.representsNil = value.literal.tokenKind == .keyword(.true)
    }

    /// The arguments of an initializer of `GenerationSchema` up to what the type consists of.
    func schemaArguments(withNil: Bool) -> String {
        var text = "type: Self.self"
        // The initializers that take a name have no default values.
        if let name {
            text += ", _name: \(name), description: \(description ?? "nil")"
        } else if let description {
            text += ", description: \(description)"
        }
        if withNil, representsNil || name != nil {
            text += ", representNilExplicitlyInGeneratedContent: \(representsNil)"
        }
        return text
    }
}

/// Which of the members that the macro makes the program has written by hand.
struct ExistingMembers {
    private(set) var schema = false
    private(set) var content = false
    private(set) var partial = false
    private(set) var initializer = false

    init(_ members: MemberBlockItemListSyntax) {
        for member in members {
            if let variable = member.decl.as(VariableDeclSyntax.self) {
                for binding in variable.bindings {
                    switch binding.pattern.trimmedDescription {
                    case "generationSchema": schema = schema || variable.modifiers.contains(.static)
                    case "generatedContent": content = true
                    default: break
                    }
                }
            } else if let function = member.decl.as(InitializerDeclSyntax.self) {
                let parameters = function.signature.parameterClause.parameters
                if parameters.count == 1, let parameter = parameters.first, parameter.firstName.text == "_",
                    parameter.type.baseName == "GeneratedContent"
                {
                    initializer = true
                }
            } else if let type = member.decl.asProtocol((any NamedDeclSyntax).self),
                type.name.text == "PartiallyGenerated"
            {
                partial = true
            }
        }
    }
}

/// Keeps diagnostics to itself.
private final class SilentContext<Context: MacroExpansionContext>: MacroExpansionContext {
    private let context: Context

    init(_ context: Context) { self.context = context }

    var lexicalContext: [Syntax] { context.lexicalContext }

    func makeUniqueName(_ name: String) -> TokenSyntax { context.makeUniqueName(name) }

    func diagnose(_ diagnostic: Diagnostic) {}

    func location(
        of node: some SyntaxProtocol, at position: PositionInSyntaxNode, filePathMode: SourceLocationFilePathMode
    ) -> AbstractSourceLocation? {
        context.location(of: node, at: position, filePathMode: filePathMode)
    }
}

extension String {
    /// The text with every line moved in by one level. Lines of string literals move along, which changes nothing in them.
    func indented() -> String {
        split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.isEmpty ? "" : "    \($0)" }
            .joined(separator: "\n")
    }
}
