import SwiftSyntax
import SwiftSyntaxMacros

/// `@Guide` expands to nothing: `@Generable` reads it. It only says when it stands where nobody reads it.
package struct GuideMacro: PeerMacro {
    package static func expansion(
        of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        let variable = declaration.as(VariableDeclSyntax.self)
        let isStored =
            variable.map { variable in
                !variable.modifiers.contains(.static) && variable.bindings.allSatisfy { !$0.isComputed }
            } ?? false
        if !isStored { context.diagnose(MacroDiagnostic.guideOnOther.at(node)) }
        return []
    }
}
