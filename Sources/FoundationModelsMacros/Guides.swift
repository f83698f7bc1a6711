import SwiftSyntax

/// What the `@Guide` attributes of a property say together.
struct Guides {
    /// An expression; nil when no description is given.
    private(set) var description: String?
    /// Expressions, each one guide or one regular expression.
    private(set) var guides: [String] = []

    init(_ attributes: AttributeListSyntax) {
        var expressions: [ExprSyntax] = []
        for attribute in attributes.named("Guide") {
            for (index, argument) in (attribute.labeledArguments ?? []).enumerated() {
                let expression = argument.expression
                // The first articles on the framework left the label out.
                if argument.label?.name == "description" || index == 0 && expression.is(StringLiteralExprSyntax.self) {
                    if !expression.is(NilLiteralExprSyntax.self) { addDescription(pasted(expression)) }
                } else {
                    expressions.append(expression)
                }
            }
        }
        // One list holds guides or regular expressions; a literal among guides becomes a guide.
        guides = expressions.map { expression in
            let isRegex = expression.is(RegexLiteralExprSyntax.self)
            return isRegex && expressions.count > 1 ? ".pattern(\(pasted(expression)))" : pasted(expression)
        }
    }

    private mutating func addDescription(_ expression: String) {
        description = description.map { "\($0) + \" \" + \(expression)" } ?? expression
    }
}
