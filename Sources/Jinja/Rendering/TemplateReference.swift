/// A block of a template, by its name.
struct NamedBlock {
    let statement: MacroStatement
    let isScoped: Bool
}

/// `self`, whose attributes write the template's blocks once more.
final class TemplateReference: Object {
    private let blocks: [String: NamedBlock]

    init(_ blocks: [String: NamedBlock]) { self.blocks = blocks }

    var typeName: String { "TemplateReference" }

    func attribute(_ name: String) throws(JinjaError) -> Value? {
        guard let block = blocks[name] else { return nil }
        return .object(
            Function(name) { (arguments, renderer) throws(JinjaError) in
                _ = try arguments.bind(name, [])
                guard !block.isScoped else {
                    throw JinjaError(.value("self.\(name)() is not supported, because the block '\(name)' is scoped"))
                }
                let line = renderer.line
                defer { renderer.line = line }
                return .string(try renderer.text(of: block.statement))
            })
    }
}
