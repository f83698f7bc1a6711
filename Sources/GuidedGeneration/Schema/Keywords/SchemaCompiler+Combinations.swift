import JSON

extension SchemaCompiler {
    /// Meets a form with the keywords that apply other schemas to the same value.
    func applyCombinations(
        _ object: JSONObject, to form: inout NormalForm, in node: SchemaDocument.Node
    ) throws(GrammarError) {
        for child in try children("allOf", object, in: node) ?? [] {
            try meet(&form, try self.form(child), "allOf", node)
        }
        for keyword in ["anyOf", "oneOf"] where object[keyword]?.arrayValue?.isEmpty == true {
            throw GrammarError(.invalid, keyword: keyword, path: "#" + node.path, "must have a schema to choose")
        }
        if let alternatives = try children("anyOf", object, in: node) {
            var join = NormalForm.never
            for child in alternatives {
                join = try union(join, try self.form(child), keyword: "anyOf", path: node.path)
            }
            try meet(&form, join, "anyOf", node)
        }
        if let alternatives = try children("oneOf", object, in: node) {
            try applyOneOf(alternatives, to: &form, in: node)
        }
        if let value = object["not"] {
            let negated = algebra.table.not(try child(value, "not", of: node))
            try meet(&form, try self.form(negated), "not", node)
        }
        if let value = object["if"], object["then"] != nil || object["else"] != nil {
            let condition = try child(value, "if", of: node)
            let then =
                try object["then"].map { value throws(GrammarError) in try child(value, "then", of: node) } ?? .any
            let otherwise =
                try object["else"].map { value throws(GrammarError) in try child(value, "else", of: node) } ?? .any
            let yes = try intersection(try self.form(condition), try self.form(then), keyword: "if", path: node.path)
            let no = try intersection(
                try self.form(algebra.table.not(condition)), try self.form(otherwise), keyword: "if", path: node.path)
            try meet(&form, try union(yes, no, keyword: "if", path: node.path), "if", node)
        }
        try applyDependencies(object, to: &form, in: node)
    }

    /// Meets a form with exactly one of some alternatives. Each is kept apart from those others that it is not seen to exclude.
    private func applyOneOf(
        _ alternatives: [ExpressionID], to form: inout NormalForm, in node: SchemaDocument.Node
    ) throws(GrammarError) {
        // Narrow each first: what this schema says besides often makes them exclude one another.
        var narrowed: [NormalForm] = []
        for child in alternatives {
            narrowed.append(try intersection(form, try self.form(child), keyword: "oneOf", path: node.path))
        }
        var join = NormalForm.never
        for (index, own) in narrowed.enumerated() {
            var rest = own
            for (other, alternative) in narrowed.enumerated() where other != index && !rest.isPlainlyEmpty {
                let common = try intersection(rest, alternative, keyword: "oneOf", path: node.path)
                guard !common.isPlainlyEmpty else { continue }
                let outside = try self.form(algebra.table.not(alternatives[other]))
                rest = try intersection(rest, outside, keyword: "oneOf", path: node.path)
            }
            join = try union(join, rest, keyword: "oneOf", path: node.path)
        }
        form = join
    }

    private func applyDependencies(
        _ object: JSONObject, to form: inout NormalForm, in node: SchemaDocument.Node
    ) throws(GrammarError) {
        func apply(_ keyword: String, _ key: String, _ consequence: NormalForm, _ form: inout NormalForm)
            throws(GrammarError)
        {
            // Without the key, or with it and what follows from it. Other types know no keys.
            var absent = NormalForm.any
            absent.objects = [ObjectShape(members: [.init(key: ExactText(key), value: .never, isRequired: false)])]
            let present = NormalForm(objects: [
                ObjectShape(members: [.init(key: ExactText(key), value: .any, isRequired: true)])
            ])
            let with = try intersection(present, consequence, keyword: keyword, path: node.path)
            try meet(&form, try union(absent, with, keyword: keyword, path: node.path), keyword, node)
        }
        func required(_ names: [String]) -> NormalForm {
            var seen: Set<ExactText> = []
            let members = names.map(ExactText.init).filter { seen.insert($0).inserted }.map {
                ObjectShape.Member(key: $0, value: .any, isRequired: true)
            }
            return NormalForm(objects: [ObjectShape(members: members)])
        }
        for keyword in ["dependencies", "dependentRequired", "dependentSchemas"] {
            for (key, value) in try schemaMap(keyword, object, in: node) ?? JSONObject() {
                switch value {
                case .array where keyword != "dependentSchemas":
                    try apply(keyword, key, required(try names(value, keyword, in: node)), &form)
                case .string(let name) where keyword == "dependencies": try apply(keyword, key, required([name]), &form)
                case .object where keyword != "dependentRequired", .bool where keyword != "dependentRequired":
                    try apply(keyword, key, try self.form(try child(value, keyword, key: key, of: node)), &form)
                default:
                    throw GrammarError(
                        .invalid, keyword: keyword, path: "#" + node.path, "must have lists of names or schemas")
                }
            }
        }
    }
}
