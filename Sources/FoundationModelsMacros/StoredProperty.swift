import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// A property that a structure stores and that content is read into.
struct StoredProperty {
    /// The name as code has to write it, with backticks where there are some.
    let identifier: String
    /// The name without backticks.
    let name: String
    /// The type as the program writes it; `T!` as `T?`.
    let type: String
    /// The type inside of its optionals.
    let wrappedType: String
    let isOptional: Bool
    /// The access level as it is written; empty when none is.
    let access: String
    let guides: Guides

    /// Whether the framework fills the property with the identity of the value.
    var isGenerationID: Bool { wrappedType == "GenerationID" || wrappedType == "FoundationModels.GenerationID" }
}

extension StoredProperty {
    /// The properties that a structure stores, in their order, without those that have their value already.
    ///
    /// What cannot be generated is diagnosed; then the result is nil.
    static func all(
        of members: MemberBlockItemListSyntax, in context: some MacroExpansionContext
    ) -> [StoredProperty]? {
        var properties: [StoredProperty] = []
        var failed = false
        for member in members {
            if let condition = member.decl.as(IfConfigDeclSyntax.self) {
                for variable in storedVariables(in: condition) {
                    context.diagnose(MacroDiagnostic.conditionalProperty.at(variable))
                    failed = true
                }
                continue
            }
            guard let variable = member.decl.as(VariableDeclSyntax.self), variable.storesInstanceValue else { continue }
            for (index, binding) in variable.bindings.enumerated() where !binding.isComputed {
                // A constant that has its value cannot be given another.
                if variable.bindingSpecifier.tokenKind == .keyword(.let), binding.initializer != nil { continue }
                guard let property = StoredProperty(variable, index, binding, in: context) else {
                    failed = true
                    continue
                }
                properties.append(property)
            }
        }
        return failed ? nil : properties
    }

    private static func storedVariables(in condition: IfConfigDeclSyntax) -> [VariableDeclSyntax] {
        condition.clauses.flatMap { clause -> [VariableDeclSyntax] in
            guard case .decls(let members)? = clause.elements else { return [] }
            return members.flatMap { member -> [VariableDeclSyntax] in
                if let inner = member.decl.as(IfConfigDeclSyntax.self) { return storedVariables(in: inner) }
                guard let variable = member.decl.as(VariableDeclSyntax.self), variable.storesInstanceValue,
                    variable.bindings.contains(where: { !$0.isComputed && $0.initializer == nil })
                else { return [] }
                return [variable]
            }
        }
    }

    private init?(
        _ variable: VariableDeclSyntax, _ index: Int, _ binding: PatternBindingSyntax,
        in context: some MacroExpansionContext
    ) {
        guard let pattern = binding.pattern.as(IdentifierPatternSyntax.self) else {
            context.diagnose(MacroDiagnostic.tuplePattern.at(binding.pattern))
            return nil
        }
        identifier = pattern.identifier.trimmed.text
        name = pattern.identifier.name
        // `var a, b: Int`: the annotation behind is for both.
        let annotation =
            binding.typeAnnotation?.type
            ?? (binding.initializer == nil
                ? variable.bindings.dropFirst(index).lazy.compactMap(\.typeAnnotation).first?.type : nil)
        guard let type = annotation ?? Self.generationID(binding.initializer) else {
            context.diagnose(Self.missingType(name, binding))
            return nil
        }
        let (wrapped, depth) = type.unwrapped
        if let fault = Self.unsupported(type, wrapped, depth, name) {
            context.diagnose(fault)
            return nil
        }
        wrappedType = wrapped.trimmedDescription
        isOptional = depth > 0
        self.type = isOptional ? "\(wrappedType)?" : wrappedType
        access = variable.modifiers.access
        guides = Guides(variable.attributes)
    }

    /// The type of a property that is declared as `= GenerationID()`.
    private static func generationID(_ initializer: InitializerClauseSyntax?) -> TypeSyntax? {
        guard let call = initializer?.value.as(FunctionCallExprSyntax.self),
            ["GenerationID", "FoundationModels.GenerationID"].contains(call.calledExpression.trimmedDescription)
        else { return nil }
        return "FoundationModels.GenerationID"
    }

    private static func missingType(_ name: String, _ binding: PatternBindingSyntax) -> Diagnostic {
        let value = binding.initializer?.value
        let type: TypeSyntax =
            if value?.is(StringLiteralExprSyntax.self) == true {
                "String"
            } else if value?.is(IntegerLiteralExprSyntax.self) == true {
                "Int"
            } else if value?.is(FloatLiteralExprSyntax.self) == true {
                "Double"
            } else if value?.is(BooleanLiteralExprSyntax.self) == true { "Bool" } else { "<#Type#>" }
        let annotated =
            binding
            .with(\.pattern, binding.pattern.trimmed)
            .with(
                \.typeAnnotation,
                TypeAnnotationSyntax(
                    colon: .colonToken(trailingTrivia: .space), type: type,
                    trailingTrivia: binding.pattern.trailingTrivia))
        return MacroDiagnostic.missingType(name).at(
            binding.pattern,
            fixIts: [MacroFixIt.replace(binding, with: annotated, "Write ': \(type)' after '\(name)'.")])
    }

    private static func unsupported(
        _ type: TypeSyntax, _ wrapped: TypeSyntax, _ depth: Int, _ name: String
    ) -> Diagnostic? {
        if depth > 1 {
            let once = OptionalTypeSyntax(wrappedType: wrapped.trimmed)
            return MacroDiagnostic.unsupportedType(
                "a value is there or is not; it cannot be optional twice", name, "Write '\(once)'."
            ).at(type, fixIts: [MacroFixIt.replace(type, with: once, "Write '\(once)'.")])
        }
        if wrapped.is(DictionaryTypeSyntax.self) || wrapped.isGeneric("Dictionary") {
            return MacroDiagnostic.unsupportedType(
                "a dictionary has keys that no schema can list", name,
                "Use an array of a '@Generable' struct with a key and a value."
            ).at(type)
        }
        if wrapped.isGeneric("Set") {
            return MacroDiagnostic.unsupportedType("a set is not generable", name, "Use an array.").at(type)
        }
        if wrapped.is(TupleTypeSyntax.self) {
            return MacroDiagnostic.unsupportedType(
                "a tuple is not generable", name, "Use a '@Generable' struct."
            ).at(type)
        }
        if wrapped.is(FunctionTypeSyntax.self) {
            return MacroDiagnostic.unsupportedType(
                "a function is not generable", name, "Make the property computed or static."
            ).at(type)
        }
        if wrapped.is(SomeOrAnyTypeSyntax.self) || ["Any", "AnyObject"].contains(wrapped.trimmedDescription) {
            return MacroDiagnostic.unsupportedType(
                "the type is not known", name, "Name a '@Generable' type, or use 'GeneratedContent'."
            ).at(type)
        }
        return nil
    }
}

extension TypeSyntax {
    fileprivate func isGeneric(_ name: String) -> Bool { baseName.hasPrefix("\(name)<") }
}

extension VariableDeclSyntax {
    /// Whether each value of the type stores the variable, and from its beginning.
    fileprivate var storesInstanceValue: Bool {
        !modifiers.contains(.static) && !modifiers.contains(.class) && !modifiers.contains(.lazy)
    }
}

extension PatternBindingSyntax {
    /// Whether the binding has accessors other than observers.
    var isComputed: Bool {
        guard let accessors = accessorBlock?.accessors else { return false }
        guard case .accessors(let list) = accessors else { return true }
        return list.contains { ![.keyword(.willSet), .keyword(.didSet)].contains($0.accessorSpecifier.tokenKind) }
    }
}
