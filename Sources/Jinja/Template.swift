package import Foundation
package import JSON

/// A Jinja template, parsed once and rendered any number of times.
package struct Template: Sendable {
    package init(_ source: String) throws(JinjaError) {
    }

    package func render(
        _ context: JSONObject, limits: RenderLimits = .default, now: Date = Date()
    ) throws(JinjaError) -> String {
        throw JinjaError(.syntax("not yet"))
    }
}
