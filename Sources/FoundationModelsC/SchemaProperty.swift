import CFoundationModels
import FoundationModels
import Synchronization

/// A property of a ``SchemaBuilder``: its name, its type and the guides on it.
final class SchemaProperty: HandledObject {
    static let kind = "property"

    struct Names: Sendable {
        let name: String
        let description: String?
        let type: String
    }

    private let names: Result<Names, InvalidArgument>
    private let isOptional: Bool
    /// The guides, or what was wrong with the first bad one.
    private let guides = Mutex<Result<[PropertyGuide], InvalidArgument>>(.success([]))

    init(_ names: Result<Names, InvalidArgument>, isOptional: Bool) {
        self.names = names
        self.isOptional = isOptional
    }

    func add(wrapped: Bool = false, _ guide: () throws(InvalidArgument) -> PropertyGuide) {
        let added: Result<PropertyGuide, InvalidArgument>
        do {
            let guide = try guide()
            added = .success(wrapped ? .element(guide) : guide)
        } catch {
            added = .failure(error)
        }
        guides.withLock { guides in
            guides = guides.flatMap { earlier in added.map { earlier + [$0] } }
        }
    }

    func property(of schema: String) throws -> DynamicGenerationSchema.Property {
        let names = try names.get()
        let guides = try guides.withLock { $0 }.get()
        let place = GuidePlace(schema: schema, property: names.name)
        return DynamicGenerationSchema.Property(
            name: names.name, description: names.description,
            schema: try DynamicGenerationSchema(typeNamed: names.type, guides: guides, place), isOptional: isOptional)
    }
}

@_cdecl("FMGenerationSchemaPropertyCreate")
public func createProperty(
    _ name: UnsafePointer<CChar>?, _ description: UnsafePointer<CChar>?, _ typeName: UnsafePointer<CChar>?,
    _ isOptional: Bool
) -> UnsafeRawPointer? {
    let names = Result { () throws(InvalidArgument) in
        SchemaProperty.Names(
            name: try text(name, "name of the property"),
            description: try optionalText(description, "description of the property"),
            type: try text(typeName, "type of the property"))
    }
    return HandleTable.shared.add(SchemaProperty(names, isOptional: isOptional))
}

private func addGuide(
    _ function: String, _ property: UnsafeRawPointer?, wrapped: Bool = false,
    _ guide: () throws(InvalidArgument) -> PropertyGuide
) {
    do {
        try HandleTable.shared.object(property, as: SchemaProperty.self).add(wrapped: wrapped, guide)
    } catch {
        warn("\(function): \(description(of: error))")
    }
}

@_cdecl("FMGenerationSchemaPropertyAddAnyOfGuide")
public func addAnyOfGuide(
    _ property: UnsafeRawPointer?, _ choices: UnsafePointer<UnsafePointer<CChar>?>?, _ choiceCount: Int32,
    _ wrapped: Bool
) {
    addGuide("FMGenerationSchemaPropertyAddAnyOfGuide", property, wrapped: wrapped) { () throws(InvalidArgument) in
        var values: [String] = []
        for choice in try elements(choices, choiceCount, "choices") { values.append(try text(choice, "choice")) }
        return .anyOf(values)
    }
}

@_cdecl("FMGenerationSchemaPropertyAddCountGuide")
public func addCountGuide(_ property: UnsafeRawPointer?, _ count: Int32, _ wrapped: Bool) {
    addGuide("FMGenerationSchemaPropertyAddCountGuide", property, wrapped: wrapped) { () throws(InvalidArgument) in
        .count(minimum: try elementCount(count), maximum: Int(count))
    }
}

@_cdecl("FMGenerationSchemaPropertyAddMinItemsGuide")
public func addMinItemsGuide(_ property: UnsafeRawPointer?, _ count: Int32) {
    addGuide("FMGenerationSchemaPropertyAddMinItemsGuide", property) { () throws(InvalidArgument) in
        .count(minimum: try elementCount(count), maximum: nil)
    }
}

@_cdecl("FMGenerationSchemaPropertyAddMaxItemsGuide")
public func addMaxItemsGuide(_ property: UnsafeRawPointer?, _ count: Int32) {
    addGuide("FMGenerationSchemaPropertyAddMaxItemsGuide", property) { () throws(InvalidArgument) in
        .count(minimum: nil, maximum: try elementCount(count))
    }
}

private func elementCount(_ count: Int32) throws(InvalidArgument) -> Int {
    guard count >= 0 else { throw InvalidArgument("An array cannot have \(count) elements.") }
    return Int(count)
}

@_cdecl("FMGenerationSchemaPropertyAddMaximumGuide")
public func addMaximumGuide(_ property: UnsafeRawPointer?, _ maximum: Double, _ wrapped: Bool) {
    addGuide("FMGenerationSchemaPropertyAddMaximumGuide", property, wrapped: wrapped) { () throws(InvalidArgument) in
        .range(minimum: nil, maximum: try finite(maximum))
    }
}

@_cdecl("FMGenerationSchemaPropertyAddMinimumGuide")
public func addMinimumGuide(_ property: UnsafeRawPointer?, _ minimum: Double, _ wrapped: Bool) {
    addGuide("FMGenerationSchemaPropertyAddMinimumGuide", property, wrapped: wrapped) { () throws(InvalidArgument) in
        .range(minimum: try finite(minimum), maximum: nil)
    }
}

@_cdecl("FMGenerationSchemaPropertyAddRangeGuide")
public func addRangeGuide(_ property: UnsafeRawPointer?, _ minimum: Double, _ maximum: Double, _ wrapped: Bool) {
    addGuide("FMGenerationSchemaPropertyAddRangeGuide", property, wrapped: wrapped) { () throws(InvalidArgument) in
        guard try finite(minimum) <= (try finite(maximum)) else {
            throw InvalidArgument("No number is from \(minimum) to \(maximum).")
        }
        return .range(minimum: minimum, maximum: maximum)
    }
}

private func finite(_ bound: Double) throws(InvalidArgument) -> Double {
    guard bound.isFinite else { throw InvalidArgument("A bound is to be a finite number, not \(bound).") }
    return bound
}

@_cdecl("FMGenerationSchemaPropertyAddRegex")
public func addRegex(_ property: UnsafeRawPointer?, _ pattern: UnsafePointer<CChar>?, _ wrapped: Bool) {
    addGuide("FMGenerationSchemaPropertyAddRegex", property, wrapped: wrapped) { () throws(InvalidArgument) in
        .regex(try text(pattern, "regular expression"))
    }
}
