import JSON

extension SchemaCompiler {
    /// What the keywords for numbers leave; nil when there are none.
    func numberShape(_ object: JSONObject, in node: SchemaDocument.Node) throws(GrammarError) -> NumberShape? {
        var shape = NumberShape.all
        func bound(_ keyword: String) throws(GrammarError) -> DecimalNumber? {
            guard let value = object[keyword] else { return nil }
            guard let number = value.numberValue else {
                throw GrammarError(.invalid, keyword: keyword, path: "#" + node.path, "must be a number")
            }
            return try decimal(number, keyword: keyword, path: node.path)
        }
        /// In draft 4 an exclusive bound is a flag beside the bound.
        func flag(_ keyword: String) -> Bool? { object[keyword]?.boolValue }

        if let value = try bound("minimum") {
            shape = shape.intersection(
                NumberShape(lower: .init(value: value, isExclusive: flag("exclusiveMinimum") ?? false)))
        }
        if let value = try bound("maximum") {
            shape = shape.intersection(
                NumberShape(upper: .init(value: value, isExclusive: flag("exclusiveMaximum") ?? false)))
        }
        if flag("exclusiveMinimum") == nil, let value = try bound("exclusiveMinimum") {
            shape = shape.intersection(NumberShape(lower: .init(value: value, isExclusive: true)))
        }
        if flag("exclusiveMaximum") == nil, let value = try bound("exclusiveMaximum") {
            shape = shape.intersection(NumberShape(upper: .init(value: value, isExclusive: true)))
        }
        if let value = try bound("multipleOf") {
            guard !value.isZero, !value.isNegative else {
                throw GrammarError(.invalid, keyword: "multipleOf", path: "#" + node.path, "must be more than 0")
            }
            shape.multiples = [value]
        }
        return shape == .all ? nil : shape
    }

    /// What the keywords for strings leave; nil when there are none.
    func stringShapes(_ object: JSONObject, in node: SchemaDocument.Node) throws(GrammarError) -> [StringShape]? {
        var shape = StringShape.all
        shape.minimum = try count("minLength", object, in: node) ?? 0
        shape.maximum = try count("maxLength", object, in: node)
        if let maximum = shape.maximum, shape.minimum > maximum { return [] }
        var shapes = [shape]
        func meet(_ other: StringShape, _ keyword: String) throws(GrammarError) {
            shapes = try intersection(
                NormalForm(strings: shapes), NormalForm(strings: [other]), keyword: keyword, path: node.path
            ).strings
        }
        if let value = object["pattern"] {
            guard let pattern = value.stringValue else {
                throw GrammarError(.invalid, keyword: "pattern", path: "#" + node.path, "must be a string")
            }
            // The same in JSON Schema's syntax, as far as that can say it, is for other readers.
            let isRepeated = object[Grammar.swiftRegexKeyword]?.stringValue.map { "^(?:\($0))$" } == pattern
            if !isRepeated { try meet(try self.shape(ofPattern: pattern, keyword: "pattern", in: node), "pattern") }
        }
        if let value = object[Grammar.swiftRegexKeyword] {
            guard let regex = value.stringValue else {
                throw GrammarError(
                    .invalid, keyword: Grammar.swiftRegexKeyword, path: "#" + node.path, "must be a string")
            }
            try meet(try self.shape(ofSwiftRegex: regex, in: node), Grammar.swiftRegexKeyword)
        }
        if let value = object["format"] {
            guard let name = value.stringValue else {
                throw GrammarError(.invalid, keyword: "format", path: "#" + node.path, "must be a string")
            }
            if options.enforcesFormats, let format = try StringFormat.shape(named: name, path: "#" + node.path) {
                try meet(format, "format")
            }
        }
        return shapes == [.all] ? nil : shapes
    }

    /// The strings in which a pattern is found.
    func shape(
        ofPattern pattern: String, keyword: String, in node: SchemaDocument.Node
    ) throws(GrammarError) -> StringShape {
        if let known = patterns[ExactText(pattern)] { return known }
        do {
            var shape = try RegexCompiler.searchShape(pattern)
            if shape.automaton?.automaton.isUniversal == true { shape.automaton = nil }
            patterns[ExactText(pattern)] = shape
            return shape
        } catch {
            throw GrammarError(error.reason, keyword: keyword, path: "#" + node.path, "\(error.message): \(pattern)")
        }
    }

    /// The strings that a regular expression in Swift's syntax matches as a whole.
    private func shape(ofSwiftRegex regex: String, in node: SchemaDocument.Node) throws(GrammarError) -> StringShape {
        if let known = swiftRegexes[ExactText(regex)] { return known }
        do {
            let shape = try RegexCompiler.wholeShape(regex, dialect: .swift)
            swiftRegexes[ExactText(regex)] = shape
            return shape
        } catch {
            throw GrammarError(
                error.reason, keyword: "pattern", path: "#" + node.path, "\(error.message): \(regex)")
        }
    }

    /// The strings in which a pattern is found, with bounds for the length written out as states.
    func automaton(
        ofPattern pattern: String, keyword: String, in node: SchemaDocument.Node
    ) throws(GrammarError) -> Automaton {
        let shape = try shape(ofPattern: pattern, keyword: keyword, in: node)
        do {
            return try algebra.languageWithLength(shape)
        } catch {
            throw GrammarError(
                .tooComplex, keyword: keyword, path: "#" + node.path,
                "the pattern needs too large an automaton: \(pattern)")
        }
    }
}
