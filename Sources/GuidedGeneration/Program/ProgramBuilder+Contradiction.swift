import JSON

extension ProgramBuilder {
    /// Why an expression has no value: the place farthest in that it needs and that nothing fits.
    func contradiction(from root: ExpressionID) -> GrammarError {
        var id = root
        var path = ""
        var seen: Set<ExpressionID> = []
        while seen.insert(id).inserted {
            guard let plan = plans[id] else { break }
            if case .schema(let node) = compiler.algebra.table[id] { path = compiler.document.nodes[Int(node)].path }
            if plan.form.isPlainlyEmpty, let (keyword, isImpossible) = compiler.contradictions[path] {
                return GrammarError(
                    .unsatisfiable, keyword: keyword, path: "#" + path,
                    isImpossible ? "no value satisfies it" : "no value satisfies both it and what stands beside it")
            }
            if let object = plan.objects.first,
                let member = object.members.first(where: { $0.isRequired && !isFilled($0.choices) }),
                let value = member.choices.first
            {
                guard value.expression != .never else {
                    return GrammarError(
                        .unsatisfiable, keyword: "required", path: "#" + path,
                        "'\(member.key.string)' must be there, and no value is allowed for it")
                }
                guard !seen.contains(value.expression) else {
                    return GrammarError(
                        .unsatisfiable, keyword: "required", path: "#" + path,
                        "no value satisfies it, for it would have to hold one like itself, without an end")
                }
                id = value.expression
                path += "/properties/" + SchemaDocument.escaped(member.key.string)
            } else if let array = plan.arrays.first, array.minimum > 0,
                let element = (array.prefix + [array.rest]).first(where: { !$0.isEmpty && !isFilled($0) })?.first,
                element.expression != .never
            {
                id = element.expression
                path += "/items"
            } else {
                break
            }
        }
        return GrammarError(.unsatisfiable, keyword: "schema", path: "#" + path, "no value satisfies the schema")
    }
}
