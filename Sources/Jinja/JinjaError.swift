/// Why a template could not be parsed or rendered, and on which line.
package struct JinjaError: Error, Hashable, CustomStringConvertible {
    package enum Reason: Hashable, Sendable {
        /// The source is not a template.
        case syntax(String)
        /// A tag that the language does not have, or that only makes sense between several files (`include`).
        case unknownTag(name: String)
        case unknownFilter(name: String)
        case unknownTest(name: String)
        /// A value that is not there was used as if it were.
        case undefined(String)
        /// A value of the wrong type.
        case type(String)
        /// A value of the right type that the operation has no result for.
        case value(String)
        /// Something that the sandbox forbids, such as changing a list.
        case security(String)
        /// The template's own `raise_exception(message)`.
        case raised(String)
        /// A limit of `RenderLimits` or of the parser was reached.
        case limit(String)
    }

    package var reason: Reason
    /// The line of the template, counted from 1; 0 when the fault has no place in it.
    package var line: Int

    init(_ reason: Reason, line: Int = 0) {
        self.reason = reason
        self.line = line
    }

    /// What went wrong, without the line. For `raise_exception` this is its message, unchanged.
    package var message: String {
        switch reason {
        case .syntax(let text), .undefined(let text), .type(let text), .value(let text), .security(let text),
            .raised(let text), .limit(let text):
            text
        case .unknownTag(let name) where ["include", "import", "from", "extends"].contains(name):
            "the tag '\(name)' needs another file, and a chat template is one file"
        case .unknownTag(let name): "unknown tag '\(name)'"
        case .unknownFilter(let name): "no filter named '\(name)'"
        case .unknownTest(let name): "no test named '\(name)'"
        }
    }

    package var description: String {
        let place = line > 0 ? " on line \(line)" : ""
        return switch reason {
        case .raised: "the chat template refused\(place): \(message)"
        default: "chat template error\(place): \(message)"
        }
    }
}
