import SwiftDiagnostics
import SwiftSyntax

/// What is wrong with a use of a macro, in words.
struct MacroDiagnostic: DiagnosticMessage {
    let message: String
    let id: String
    var severity: DiagnosticSeverity = .error

    var diagnosticID: MessageID { MessageID(domain: "FoundationModelsMacros", id: id) }

    func at(_ node: some SyntaxProtocol, fixIts: [FixIt] = []) -> Diagnostic {
        Diagnostic(node: Syntax(node), message: self, fixIts: fixIts)
    }
}

extension MacroDiagnostic {
    static let notStructOrEnum = MacroDiagnostic(
        message: "'@Generable' can only be used on structs and enums.", id: "not-struct-or-enum")

    static let noCases = MacroDiagnostic(
        message: "'@Generable' needs an enum with at least one case.", id: "no-cases")

    static let conditionalProperty = MacroDiagnostic(
        message: "'@Generable' cannot see stored properties inside '#if'. Declare the property outside.",
        id: "conditional-property")

    static let conditionalCase = MacroDiagnostic(
        message: "'@Generable' cannot see cases inside '#if'. Declare the case outside.", id: "conditional-case")

    static let tuplePattern = MacroDiagnostic(
        message: "'@Generable' needs every property declared by itself, not as part of a tuple.", id: "tuple-pattern")

    static let explicitNilNotLiteral = MacroDiagnostic(
        message: "'representNilExplicitlyInGeneratedContent' must be 'true' or 'false'.", id: "explicit-nil-not-literal"
    )

    static let guideOnOther = MacroDiagnostic(
        message: "'@Guide' says something only on a stored property of a '@Generable' struct.", id: "guide-on-other",
        severity: .warning)

    static func missingType(_ property: String) -> MacroDiagnostic {
        MacroDiagnostic(message: "'@Generable' needs the type of '\(property)' written out.", id: "missing-type")
    }

    static func unsupportedType(_ what: String, _ property: String, _ advice: String) -> MacroDiagnostic {
        MacroDiagnostic(
            message: "'@Generable' cannot generate '\(property)': \(what). \(advice)", id: "unsupported-type")
    }

    static func duplicateRawValue(_ value: String) -> MacroDiagnostic {
        MacroDiagnostic(message: "Two cases are both written as '\(value)'.", id: "duplicate-case")
    }

    static func entry(_ message: String) -> MacroDiagnostic {
        MacroDiagnostic(message: message, id: "session-property-entry")
    }
}

/// What a fix-it offers, in words.
struct MacroFixIt: FixItMessage {
    let message: String

    var fixItID: MessageID { MessageID(domain: "FoundationModelsMacros", id: "fix") }

    /// A fix that puts one node in the place of another.
    static func replace(_ old: some SyntaxProtocol, with new: some SyntaxProtocol, _ message: String) -> FixIt {
        FixIt(
            message: MacroFixIt(message: message),
            changes: [.replace(oldNode: Syntax(old), newNode: Syntax(new))])
    }
}
