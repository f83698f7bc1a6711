/// What a template may use up before its rendering ends with an error. Templates come with model files and are
/// untrusted programs.
package struct RenderLimits: Sendable {
    /// Units of work: about one for each node evaluated and for each 16 bytes of text made.
    package var steps: Int
    /// Nested evaluations: expressions in expressions, blocks in blocks, macros that call macros.
    package var depth: Int
    /// Bytes of UTF-8 of the result, and of any one text on the way.
    package var outputBytes: Int
    /// Elements of any one list or dictionary.
    package var elements: Int
    /// Wall-clock time.
    package var duration: Duration

    package init(
        steps: Int = 50_000_000, depth: Int = 400, outputBytes: Int = 64 << 20, elements: Int = 4_000_000,
        duration: Duration = .seconds(10)
    ) {
        self.steps = steps
        self.depth = depth
        self.outputBytes = outputBytes
        self.elements = elements
        self.duration = duration
    }

    package static let `default` = RenderLimits()
}
