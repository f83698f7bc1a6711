import FoundationModels

/// A guide before it is known what type it is for.
indirect enum PropertyGuide: Sendable {
    case anyOf([String])
    case regex(String)
    case range(minimum: Double?, maximum: Double?)
    case count(minimum: Int?, maximum: Int?)
    case element(PropertyGuide)

    /// What it is called in messages.
    var name: String {
        switch self {
        case .anyOf: "anyOf"
        case .regex: "regex"
        case .range(nil, _): "maximum"
        case .range(_, nil): "minimum"
        case .range: "range"
        case .count(nil, _): "maxItems"
        case .count(_, nil): "minItems"
        case .count: "count"
        case .element(let guide): "element(\(guide.name))"
        }
    }
}

/// Where a guide stands, for messages.
struct GuidePlace: Sendable {
    let schema: String
    let property: String

    func unsupported(_ guide: PropertyGuide, on type: String) -> LanguageModelError {
        unsupported("The guide \(guide.name) of the property \"\(property)\" is not for the type \(type).")
    }

    func unsupported(_ text: String) -> LanguageModelError {
        .unsupportedGenerationGuide(.init(schemaName: schema, debugDescription: text))
    }
}

extension DynamicGenerationSchema {
    /// The schema of a type that C names, under guides.
    init(typeNamed type: String, guides: [PropertyGuide], _ place: GuidePlace) throws {
        switch type {
        case "string": self.init(type: String.self, guides: try guides.map { try $0.forString(place) })
        case "integer", "int": self.init(type: Int.self, guides: try guides.flatMap { try $0.forInteger(place) })
        case "number", "float", "double":
            self.init(type: Double.self, guides: try guides.flatMap { try $0.forNumber(place) })
        case "boolean", "bool":
            if let guide = guides.first { throw place.unsupported(guide, on: type) }
            self.init(type: Bool.self)
        case _ where type.hasPrefix("array<") && type.hasSuffix(">"):
            try self.init(arrayOf: String(type.dropFirst(6).dropLast()), guides: guides, place)
        case "": throw InvalidArgument("The property \"\(place.property)\" has no type.")
        default:
            if let guide = guides.first { throw place.unsupported(guide, on: type) }
            self.init(referenceTo: type)
        }
    }

    private init(arrayOf element: String, guides: [PropertyGuide], _ place: GuidePlace) throws {
        // Types are nested by their text, one level for each "array<": the text of a hostile caller is not to nest without end.
        guard element.count < 1000 else { throw InvalidArgument("The type of \"\(place.property)\" is too long.") }
        var minimum: Int?
        var maximum: Int?
        var elementGuides: [PropertyGuide] = []
        for guide in guides {
            switch guide {
            case .count(let least, let most):
                minimum = [minimum, least].compactMap(\.self).max()
                maximum = [maximum, most].compactMap(\.self).min()
            case .element(let guide): elementGuides.append(guide)
            // Choices can only be meant for the elements.
            case .anyOf where element == "string": elementGuides.append(guide)
            default: throw place.unsupported(guide, on: "array<\(element)>")
            }
        }
        if let minimum, let maximum, minimum > maximum {
            throw place.unsupported(
                "No array has at least \(minimum) and at most \(maximum) elements (property \"\(place.property)\").")
        }
        self.init(
            arrayOf: try DynamicGenerationSchema(typeNamed: element, guides: elementGuides, place),
            minimumElements: minimum, maximumElements: maximum)
    }
}

extension PropertyGuide {
    fileprivate func forString(_ place: GuidePlace) throws -> GenerationGuide<String> {
        switch self {
        case .anyOf(let values): return .anyOf(values)
        case .regex(let pattern):
            do {
                return .pattern(try Regex(pattern))
            } catch {
                throw place.unsupported(
                    "The regular expression of the property \"\(place.property)\" cannot be read: \(error)")
            }
        default: throw place.unsupported(self, on: "string")
        }
    }

    fileprivate func forNumber(_ place: GuidePlace) throws -> [GenerationGuide<Double>] {
        guard case .range(let minimum, let maximum) = self else { throw place.unsupported(self, on: "number") }
        return [minimum.map { .minimum($0) }, maximum.map { .maximum($0) }].compactMap(\.self)
    }

    fileprivate func forInteger(_ place: GuidePlace) throws -> [GenerationGuide<Int>] {
        guard case .range(let minimum, let maximum) = self else { throw place.unsupported(self, on: "integer") }
        // The integers between two numbers: 1 and 2 between 0.5 and 2.5.
        return [
            try minimum.map { .minimum(try integer($0.rounded(.up), place)) },
            try maximum.map { .maximum(try integer($0.rounded(.down), place)) },
        ].compactMap(\.self)
    }

    private func integer(_ bound: Double, _ place: GuidePlace) throws -> Int {
        guard let integer = Int(exactly: bound) else {
            throw place.unsupported(
                "The bound \(bound) of the property \"\(place.property)\" is not in the range of integers.")
        }
        return integer
    }
}
