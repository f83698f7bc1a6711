import SwiftParser
import SwiftSyntax
import SwiftSyntaxMacros

extension TokenSyntax {
    /// The name without the backticks that keywords need.
    var name: String {
        let text = trimmed.text
        return text.count > 1 && text.hasPrefix("`") && text.hasSuffix("`") ? String(text.dropFirst().dropLast()) : text
    }
}

extension AttributeSyntax {
    /// Whether the attribute is a macro of that name of the FoundationModels module.
    func isNamed(_ name: String) -> Bool {
        let written = attributeName.trimmedDescription
        return written == name || written == "FoundationModels.\(name)"
    }

    var labeledArguments: LabeledExprListSyntax? {
        if case .argumentList(let list)? = arguments { list } else { nil }
    }

    func argument(_ label: String) -> ExprSyntax? {
        labeledArguments?.first { $0.label?.name == label }?.expression
    }
}

extension AttributeListSyntax {
    func named(_ name: String) -> [AttributeSyntax] {
        compactMap { if case .attribute(let attribute) = $0, attribute.isNamed(name) { attribute } else { nil } }
    }
}

extension DeclModifierListSyntax {
    /// The access level as it is written, without that of a setter; empty when none is.
    var access: String {
        for modifier in self where modifier.detail == nil {
            switch modifier.name.tokenKind {
            case .keyword(.public), .keyword(.package), .keyword(.internal), .keyword(.fileprivate), .keyword(.private):
                return modifier.name.text
            default: continue
            }
        }
        return ""
    }

    func contains(_ keyword: Keyword) -> Bool { contains { $0.name.tokenKind == .keyword(keyword) } }
}

extension TypeSyntax {
    /// The type inside of one or more `?`, `!` or `Optional<>`, and how many there are.
    var unwrapped: (type: TypeSyntax, depth: Int) {
        if let optional = self.as(OptionalTypeSyntax.self) {
            let inner = optional.wrappedType.unwrapped
            return (inner.type, inner.depth + 1)
        }
        if let optional = self.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) {
            let inner = optional.wrappedType.unwrapped
            return (inner.type, inner.depth + 1)
        }
        if let name = self.as(IdentifierTypeSyntax.self), name.name.text == "Optional",
            let argument = name.genericArgumentClause?.arguments.first, case .type(let type) = argument.argument
        {
            let inner = type.unwrapped
            return (inner.type, inner.depth + 1)
        }
        if let tuple = self.as(TupleTypeSyntax.self), tuple.elements.count == 1, let element = tuple.elements.first,
            element.firstName == nil
        {
            return element.type.unwrapped
        }
        return (self, 0)
    }

    /// The name of the type without the module that it is from.
    var baseName: String {
        let written = trimmedDescription
        for module in ["Swift.", "FoundationModels.", "Foundation."] where written.hasPrefix(module) {
            return String(written.dropFirst(module.count))
        }
        return written
    }
}

/// A string as a literal on one line.
func literal(_ string: String) -> String {
    var text = "\""
    for scalar in string.unicodeScalars {
        switch scalar {
        case "\"": text += "\\\""
        case "\\": text += "\\\\"
        case "\n": text += "\\n"
        case "\r": text += "\\r"
        case "\t": text += "\\t"
        case "\0"..<" ", "\u{7f}": text += "\\u{\(String(scalar.value, radix: 16))}"
        default: text.unicodeScalars.append(scalar)
        }
    }
    return text + "\""
}

/// An expression of the program as it is to stand in the expansion. String literals over several lines are put on one,
/// because their indentation means something.
func pasted(_ expression: ExprSyntax) -> String {
    if let string = expression.as(StringLiteralExprSyntax.self), string.openingQuote.tokenKind == .multilineStringQuote,
        let value = string.representedLiteralValue
    {
        return literal(value)
    }
    return expression.trimmedDescription
}

/// Puts a prefix and a space before a text unless the prefix is empty.
func prefixed(_ prefix: String, _ text: String) -> String { prefix.isEmpty ? text : "\(prefix) \(text)" }
