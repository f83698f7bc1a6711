import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@SessionPropertyEntry`: makes a variable of `SessionPropertyValues` one that sessions store, under a key of its own.
package struct SessionPropertyEntryMacro {
    package static var formatMode: FormatMode { .disabled }

    /// The variable, if it is one that can be an entry.
    private static func binding(
        of declaration: some DeclSyntaxProtocol, node: AttributeSyntax, in context: (any MacroExpansionContext)?
    ) -> (variable: VariableDeclSyntax, binding: PatternBindingSyntax, name: String)? {
        func fail(_ message: String, _ place: some SyntaxProtocol) {
            context?.diagnose(MacroDiagnostic.entry(message).at(place))
        }
        guard let variable = declaration.as(VariableDeclSyntax.self),
            variable.bindingSpecifier.tokenKind == .keyword(.var), !variable.modifiers.contains(.static)
        else {
            fail("'@SessionPropertyEntry' can only be attached to a 'var' of 'SessionPropertyValues'.", node)
            return nil
        }
        guard variable.bindings.count == 1, let binding = variable.bindings.first,
            let pattern = binding.pattern.as(IdentifierPatternSyntax.self)
        else {
            fail("'@SessionPropertyEntry' needs each variable declared by itself.", variable.bindings)
            return nil
        }
        guard binding.accessorBlock == nil else {
            fail("'@SessionPropertyEntry' makes the accessors; the variable cannot have its own.", pattern)
            return nil
        }
        let isOptional = binding.typeAnnotation.map { $0.type.unwrapped.depth > 0 } ?? false
        guard binding.initializer != nil || isOptional else {
            fail("'@SessionPropertyEntry' needs a default value.", pattern)
            return nil
        }
        return (variable, binding, pattern.identifier.name)
    }
}

extension SessionPropertyEntryMacro: AccessorMacro {
    package static func expansion(
        of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [AccessorDeclSyntax] {
        guard let (_, _, name) = binding(of: declaration, node: node, in: context) else { return [] }
        return [
            """
            get {
                self[__Key_\(raw: name).self]
            }
            """,
            """
            set {
                self[__Key_\(raw: name).self] = newValue
            }
            """,
        ]
    }
}

extension SessionPropertyEntryMacro: PeerMacro {
    package static func expansion(
        of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        guard let (_, binding, name) = binding(of: declaration, node: node, in: nil) else { return [] }
        let value = binding.initializer?.value.trimmedDescription ?? "nil"
        let property =
            if let type = binding.typeAnnotation?.type.trimmedDescription {
                "nonisolated static var defaultValue: \(type) { \(value) }"
            } else {
                // The type follows from the value, which is still computed each time: it need not be sendable.
                "@FoundationModels.__SessionPropertyEntryDefaultValue nonisolated static var defaultValue = \(value)"
            }
        return [
            """
            nonisolated private struct __Key_\(raw: name): nonisolated FoundationModels.SessionPropertyKey {
                \(raw: property)
            }
            """
        ]
    }
}

/// Turns a variable with a value into one that computes the value.
package struct SessionPropertyEntryDefaultValueMacro: AccessorMacro {
    package static var formatMode: FormatMode { .disabled }

    package static func expansion(
        of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [AccessorDeclSyntax] {
        guard let value = declaration.as(VariableDeclSyntax.self)?.bindings.first?.initializer?.value else { return [] }
        return [
            """
            get {
                \(raw: value.trimmedDescription)
            }
            """
        ]
    }
}
