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
        let blocks: [String: NamedBlock]
    }

    private let program: Program

    /// The longest source that is read, in UTF-8; models' own templates have some kilobytes.
    package static let maximumSourceBytes = 1 << 20

    /// - Throws: What is wrong with the source, and on which line.
    package init(_ source: String) throws(JinjaError) {
        guard source.utf8.count <= Self.maximumSourceBytes else {
            throw JinjaError(.limit("the source is longer than \(Self.maximumSourceBytes) bytes"))
        }
        let body = Block(try Parser.statements(of: source))
        let resolved = try Resolver.resolve(body)
        program = Program(body: body, slotCount: resolved.slotCount, blocks: resolved.blocks)
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
        try renderTracked(context, trusting: [], limits: limits, now: now).string
    }

    /// Renders the template and tells what of the result is its own words, and what came from the context.
    ///
    /// - Parameter trusted: Texts of the context that count as the template's own.
    package func renderTracked(
        _ context: JSONObject, trusting trusted: TrustedPaths, limits: RenderLimits = .default, now: Date = Date()
    ) throws(JinjaError) -> TrackedText {
        try Renderer(context: context, trusting: trusted, blocks: program.blocks, limits: limits, now: now)
            .render(program.body, slotCount: program.slotCount)
    }
}
