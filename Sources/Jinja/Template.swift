package import Foundation
package import JSON

/// A Jinja template, parsed once and rendered any number of times.
///
/// The language is jinja2's as Hugging Face `transformers` sets it up for chat templates: a sandbox without changes to
/// values, `trim_blocks`, `lstrip_blocks`, loop controls, the `generation` tag, `raise_exception`, `strftime_now`, and a
/// `tojson` that is Python's `json.dumps`. Results are equal to theirs byte for byte. Tags that need other files
/// (`include`, `import`, `extends`) are refused by name.
package struct Template: Sendable {
    /// Immutable once parsed: nothing but the parser and the resolver writes to the tree.
    private struct Program: @unchecked Sendable {
        let body: Block
        let slotCount: Int
    }

    private let program: Program

    /// - Throws: What is wrong with the source, and on which line.
    package init(_ source: String) throws(JinjaError) {
        let body = Block(try Parser.statements(of: source))
        program = Program(body: body, slotCount: try Resolver.resolve(body))
    }

    /// Renders the template.
    ///
    /// - Parameters:
    ///   - context: The values that the template sees by name: `messages`, `tools`, `add_generation_prompt`, …
    ///   - now: The moment that `strftime_now` writes, in local time.
    /// - Throws: What went wrong; for `raise_exception` the template's own message (`JinjaError.Reason.raised`).
    package func render(
        _ context: JSONObject, limits: RenderLimits = .default, now: Date = Date()
    ) throws(JinjaError) -> String {
        try Renderer(context: context, limits: limits, now: now).render(program.body, slotCount: program.slotCount)
    }
}
