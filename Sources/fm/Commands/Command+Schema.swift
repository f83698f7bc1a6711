import FoundationModels
import JSON

extension Command {
    package static let schema = Command(
        name: "schema",
        summary: "Write a JSON Schema for 'fm respond --schema'.",
        usage: ["object --name NAME [--description TEXT] [PROPERTY ...]"],
        options: [
            Option("--name", value: "NAME", help: "The name of the object."),
            Option("--string", value: "NAME", isRepeatable: true, help: "A property that is a text."),
            Option("--integer", value: "NAME", isRepeatable: true, help: "A property that is a whole number."),
            Option("--number", value: "NAME", isRepeatable: true, help: "A property that is a number."),
            Option("--boolean", value: "NAME", isRepeatable: true, help: "A property that is true or false."),
            Option(
                "--object", value: "NAME", isRepeatable: true,
                help: "A property that is an object, whose own properties follow."),
            Option("--end", isRepeatable: true, help: "The end of the properties of --object."),
            Option("--description", value: "TEXT", isRepeatable: true, help: "What the property before it means."),
            Option("--optional", isRepeatable: true, help: "The property before it may be left out."),
            Option("--array", isRepeatable: true, help: "The property before it is a list of such values."),
            Option(
                "--choice", value: "TEXT", isRepeatable: true, help: "A value that the --string before it may have."),
            Option("--minimum", value: "NUMBER", isRepeatable: true, help: "The least value of the number before it."),
            Option(
                "--maximum", value: "NUMBER", isRepeatable: true, help: "The greatest value of the number before it."),
            Option("--min-items", value: "COUNT", isRepeatable: true, help: "The least length of the list before it."),
            Option(
                "--max-items", value: "COUNT", isRepeatable: true, help: "The greatest length of the list before it."),
        ],
        operands: .one("'object'"),
        discussion: """
            Properties are generated in the order in which they are given. For example:
              fm schema object --name Person --string name --integer age --minimum 0 --optional \\
                --object home --description "where they live" --string city --end
            """
    ) { arguments, context in
        guard arguments.operands == ["object"] else {
            throw UsageError("'schema' makes an 'object', not '\(arguments.operands[0])'")
        }
        let schema = try SchemaBuilder.schema(arguments)
        context.output.line(schema.publishedSchema.text(indent: 2))
    }
}

/// Puts a schema together from the options of `fm schema object`, in their order.
package struct SchemaBuilder {
    /// A property while its options come.
    private struct Property {
        var option: String
        var name: String
        var description: String?
        var isOptional = false
        var isArray = false
        var choices: [String] = []
        var minimum: Bound?
        var maximum: Bound?
        var minimumCount: Int?
        var maximumCount: Int?
        var members: [Property] = []
    }

    /// The least or the greatest value of a number. Whole ones keep all their digits.
    private struct Bound: Comparable {
        var value: Double
        var whole: Int?

        init?(_ text: String) {
            guard let value = Double(text), value.isFinite else { return nil }
            self.value = value
            whole = Int(text) ?? Int(exactly: value)
        }

        static func < (a: Bound, b: Bound) -> Bool {
            if let a = a.whole, let b = b.whole { a < b } else { a.value < b.value }
        }
    }

    /// Objects inside each other.
    private static let depthLimit = 64

    private var name: String
    private var description: String?
    private var finished: [Property] = []
    /// The objects whose properties are being given, outermost first.
    private var open: [Property] = []

    package static func schema(_ arguments: Arguments) throws -> GenerationSchema {
        guard let name = arguments["--name"], !name.isEmpty else {
            throw UsageError("'schema object' needs --name NAME")
        }
        var builder = SchemaBuilder(name: name)
        for case .option(let option, let value) in arguments.list where option != "--name" {
            try builder.take(option, value ?? "")
        }
        guard builder.open.isEmpty else { throw UsageError("--object \(builder.open[0].name) has no --end") }
        do {
            return try GenerationSchema(
                root: DynamicGenerationSchema(
                    name: name, description: builder.description,
                    properties: try builder.finished.map { try builder.property($0, path: name) }),
                dependencies: [])
        } catch let error as GenerationSchema.SchemaError {
            throw Failure(.schema, error.errorDescription ?? "\(error)")
        }
    }

    private mutating func take(_ option: String, _ value: String) throws(UsageError) {
        switch option {
        case "--string", "--integer", "--number", "--boolean":
            guard !value.isEmpty else { throw UsageError("\(option) needs the name of the property") }
            append(Property(option: option, name: value))
        case "--object":
            guard !value.isEmpty else { throw UsageError("\(option) needs the name of the property") }
            guard open.count < Self.depthLimit else {
                throw UsageError("--object \(value) is inside \(open.count) objects; more cannot be nested")
            }
            open.append(Property(option: option, name: value))
        case "--end":
            guard let object = open.popLast() else { throw UsageError("--end without an --object before it") }
            append(object)
        case "--description" where open.isEmpty && finished.isEmpty:
            guard description == nil else { throw UsageError("--description is given twice") }
            description = value
        default:
            try modify(option, value)
        }
    }

    private mutating func append(_ property: Property) {
        if open.isEmpty { finished.append(property) } else { open[open.count - 1].members.append(property) }
    }

    /// Changes the property that came last: a member of the open object, or that object itself while it has none.
    private mutating func modify(_ option: String, _ value: String) throws(UsageError) {
        func apply(to property: inout Property) throws(UsageError) {
            func refuse(unless allowed: Bool, _ what: String) throws(UsageError) {
                guard !allowed else { return }
                throw UsageError("\(option) goes with \(what), not with \(property.option) \(property.name)")
            }
            func number() throws(UsageError) -> Bound {
                guard let number = Bound(value), property.option == "--number" || number.whole != nil else {
                    let kind = property.option == "--number" ? "number" : "whole number"
                    throw UsageError("\(option) takes a \(kind), not '\(value)'")
                }
                return number
            }
            func count() throws(UsageError) -> Int {
                guard let count = Int(value), count >= 0 else {
                    throw UsageError("\(option) takes a whole number, 0 or more, not '\(value)'")
                }
                return count
            }
            switch option {
            case "--description": property.description = value
            case "--optional": property.isOptional = true
            case "--array": property.isArray = true
            case "--choice":
                try refuse(unless: property.option == "--string", "--string")
                property.choices.append(value)
            case "--minimum":
                try refuse(unless: ["--integer", "--number"].contains(property.option), "--integer or --number")
                property.minimum = try number()
            case "--maximum":
                try refuse(unless: ["--integer", "--number"].contains(property.option), "--integer or --number")
                property.maximum = try number()
            case "--min-items":
                try refuse(unless: property.isArray, "a list (--array before it)")
                property.minimumCount = try count()
            case "--max-items":
                try refuse(unless: property.isArray, "a list (--array before it)")
                property.maximumCount = try count()
            default: throw UsageError("\(option) cannot be used here")
            }
            if let low = property.minimum, let high = property.maximum, low > high {
                throw UsageError("the least value of '\(property.name)' is above the greatest")
            }
            if let low = property.minimumCount, let high = property.maximumCount, low > high {
                throw UsageError("the least length of '\(property.name)' is above the greatest")
            }
        }
        if let last = open.indices.last {
            if let member = open[last].members.indices.last {
                try apply(to: &open[last].members[member])
            } else {
                try apply(to: &open[last])
            }
        } else if let last = finished.indices.last {
            try apply(to: &finished[last])
        } else {
            throw UsageError("\(option) has no property before it")
        }
    }

    private func property(_ property: Property, path: String) throws -> DynamicGenerationSchema.Property {
        // Types need names of their own; the way to a property is one.
        let typeName = "\(path).\(property.name)"
        var schema: DynamicGenerationSchema
        switch property.option {
        case "--string" where !property.choices.isEmpty:
            schema = DynamicGenerationSchema(name: typeName, anyOf: property.choices)
        case "--string": schema = DynamicGenerationSchema(type: String.self)
        case "--boolean": schema = DynamicGenerationSchema(type: Bool.self)
        case "--integer":
            var guides: [GenerationGuide<Int>] = []
            if let minimum = property.minimum?.whole { guides.append(.minimum(minimum)) }
            if let maximum = property.maximum?.whole { guides.append(.maximum(maximum)) }
            schema = DynamicGenerationSchema(type: Int.self, guides: guides)
        case "--number":
            var guides: [GenerationGuide<Double>] = []
            if let minimum = property.minimum { guides.append(.minimum(minimum.value)) }
            if let maximum = property.maximum { guides.append(.maximum(maximum.value)) }
            schema = DynamicGenerationSchema(type: Double.self, guides: guides)
        default:
            schema = DynamicGenerationSchema(
                name: typeName, properties: try property.members.map { try self.property($0, path: typeName) })
        }
        if property.isArray {
            schema = DynamicGenerationSchema(
                arrayOf: schema, minimumElements: property.minimumCount, maximumElements: property.maximumCount)
        }
        return DynamicGenerationSchema.Property(
            name: property.name, description: property.description, schema: schema, isOptional: property.isOptional)
    }
}
