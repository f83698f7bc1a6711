import SwiftParser
import SwiftSyntax
import SwiftSyntaxMacros

/// A case of an enumeration.
struct EnumerationCase {
    struct Payload {
        /// The label, if there is one, as code has to write it.
        let label: String?
        /// The name of the property in the content.
        let name: String
        let type: String
        let wrappedType: String
    }

    /// The name as code has to write it.
    let identifier: String
    /// What the content says for the case: the raw value of a string enumeration, else the name.
    let text: String
    let payload: [Payload]
}

extension EnumerationCase {
    /// The cases of an enumeration. What cannot be generated is diagnosed; then the result is nil.
    static func all(of declaration: EnumDeclSyntax, in context: some MacroExpansionContext) -> [EnumerationCase]? {
        var cases: [EnumerationCase] = []
        var seen: Set<String> = []
        var failed = false
        for member in declaration.memberBlock.members {
            if let condition = member.decl.as(IfConfigDeclSyntax.self), hasCases(condition) {
                context.diagnose(MacroDiagnostic.conditionalCase.at(condition))
                failed = true
            }
            guard let list = member.decl.as(EnumCaseDeclSyntax.self) else { continue }
            for element in list.elements {
                let raw = element.rawValue?.value.as(StringLiteralExprSyntax.self)?.representedLiteralValue
                let text = raw ?? element.name.name
                if !seen.insert(text).inserted {
                    context.diagnose(MacroDiagnostic.duplicateRawValue(text).at(element))
                    failed = true
                }
                cases.append(
                    EnumerationCase(
                        identifier: element.name.trimmed.text, text: text, payload: payload(element.parameterClause)))
            }
        }
        if cases.isEmpty, !failed {
            context.diagnose(MacroDiagnostic.noCases.at(declaration.name))
            failed = true
        }
        return failed ? nil : cases
    }

    private static func hasCases(_ condition: IfConfigDeclSyntax) -> Bool {
        condition.clauses.contains { clause in
            guard case .decls(let members)? = clause.elements else { return false }
            return members.contains { member in
                member.decl.is(EnumCaseDeclSyntax.self)
                    || member.decl.as(IfConfigDeclSyntax.self).map(hasCases) == true
            }
        }
    }

    /// Values without a label are named by their place: `value`, or `value1`, `value2` when there are several.
    private static func payload(_ clause: EnumCaseParameterClauseSyntax?) -> [Payload] {
        let parameters = clause.map { Array($0.parameters) } ?? []
        return parameters.enumerated().map { index, parameter in
            let label = parameter.firstName.flatMap { $0.text == "_" ? nil : $0 }
            let (wrapped, depth) = parameter.type.unwrapped
            let wrappedType = wrapped.trimmedDescription
            return Payload(
                label: label?.trimmed.text,
                name: label?.name ?? (parameters.count == 1 ? "value" : "value\(index + 1)"),
                type: depth > 0 ? "\(wrappedType)?" : wrappedType, wrappedType: wrappedType)
        }
    }
}
