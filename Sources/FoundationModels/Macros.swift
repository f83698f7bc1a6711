/// Makes a structure or an enumeration ``Generable``.
///
/// - Parameter description: What a value is, for the model.
@attached(extension, conformances: Generable, names: named(init(_:)), named(generatedContent))
@attached(member, names: arbitrary)
public macro Generable(description: String? = nil) =
    #externalMacro(module: "FoundationModelsMacros", type: "GenerableMacro")

/// Makes a structure or an enumeration ``Generable``.
///
/// - Parameters:
///   - description: What a value is, for the model.
///   - representNilExplicitlyInGeneratedContent: Whether a missing value of an optional property is written as null rather than
///     left out.
@attached(extension, conformances: Generable, names: named(init(_:)), named(generatedContent))
@attached(member, names: arbitrary)
public macro Generable(description: String? = nil, representNilExplicitlyInGeneratedContent: Bool) =
    #externalMacro(module: "FoundationModelsMacros", type: "GenerableMacro")

/// Makes a structure or an enumeration ``Generable``.
///
/// - Parameters:
///   - name: The name that the model sees instead of the type's own.
///   - description: What a value is, for the model.
///   - representNilExplicitlyInGeneratedContent: Whether a missing value of an optional property is written as null rather than
///     left out.
@attached(extension, conformances: Generable, names: named(init(_:)), named(generatedContent))
@attached(member, names: arbitrary)
public macro Generable(
    name: String, description: String? = nil, representNilExplicitlyInGeneratedContent: Bool = false
) = #externalMacro(module: "FoundationModelsMacros", type: "GenerableMacro")

/// Says what a property of a ``Generable`` type is and which values it can have.
@attached(peer)
public macro Guide<T>(description: String? = nil, _ guides: GenerationGuide<T>...) =
    #externalMacro(module: "FoundationModelsMacros", type: "GuideMacro") where T: Generable

/// Says what a string of a ``Generable`` type is and that it matches a regular expression as a whole.
@attached(peer)
public macro Guide<RegexOutput>(description: String? = nil, _ guides: Regex<RegexOutput>) =
    #externalMacro(module: "FoundationModelsMacros", type: "GuideMacro")

/// Says what a property of a ``Generable`` type is.
@attached(peer)
public macro Guide(description: String) =
    #externalMacro(module: "FoundationModelsMacros", type: "GuideMacro")

/// Says what a property of a ``Generable`` type is, in the spelling of the first articles on the framework.
@attached(peer)
@available(*, deprecated, message: "Write @Guide(description:).")
public macro Guide(_ description: String) =
    #externalMacro(module: "FoundationModelsMacros", type: "GuideMacro")

/// Says what a property of a ``Generable`` type is and which values it can have, in the spelling of the first articles on the
/// framework.
@attached(peer)
@available(*, deprecated, message: "Write @Guide(description:_:).")
public macro Guide<T>(_ description: String, _ guides: GenerationGuide<T>...) =
    #externalMacro(module: "FoundationModelsMacros", type: "GuideMacro") where T: Generable

/// Makes a variable in an extension of `SessionPropertyValues` one that sessions store. Its value in the declaration is the one that it
/// has until it is set.
@attached(accessor)
@attached(peer, names: prefixed(__Key_))
public macro SessionPropertyEntry() =
    #externalMacro(module: "FoundationModelsMacros", type: "SessionPropertyEntryMacro")

@_documentation(visibility: private)
@attached(accessor)
public macro __SessionPropertyEntryDefaultValue() =
    #externalMacro(module: "FoundationModelsMacros", type: "SessionPropertyEntryDefaultValueMacro")
