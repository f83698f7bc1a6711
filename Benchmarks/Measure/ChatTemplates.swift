import Foundation
import Inference
import JSON
import Jinja

/// Renders templates as a pipe: one JSON object a line comes in, one goes out.
///
/// In: `{"template": text, "context": object, "now": seconds since 1970}`. Out: `{"text": text, "content": [[start, end], …]}`,
/// the second being the bytes that are content, or `{"error": kind, "message": text, "line": number}`. A template that comes
/// several times is parsed once.
@Sendable func chatTemplates(_ arguments: [String]) async throws {
    var parsed: [String: Result<Template, JinjaError>] = [:]
    while let line = readLine() {
        guard let request = try? JSONValue(parsing: line), let source = request["template"]?.stringValue,
            let context = request["context"]?.objectValue
        else {
            print(#"{"error": "request", "message": "not a request"}"#)
            continue
        }
        let now = request["now"]?.numberValue?.doubleValue ?? 0
        let template: Result<Template, JinjaError>
        if let known = parsed[source] {
            template = known
        } else {
            template = Result { () throws(JinjaError) in try Template(source) }
            parsed[source] = template
        }
        var answer = JSONObject()
        do throws(JinjaError) {
            let result = try template.get().renderTracked(
                context, trusting: ChatTemplate.trusted, now: Date(timeIntervalSince1970: now))
            answer["text"] = .string(result.string)
            answer["content"] = .array(
                result.contentRanges.map { range in
                    .array([range.lowerBound, range.upperBound].map { .number(JSONNumber($0)) })
                })
        } catch {
            let isRaised = if case .raised = error.reason { true } else { false }
            answer["error"] = isRaised ? "raised" : "other"
            answer["message"] = .string(error.message)
            answer["line"] = .number(JSONNumber(error.line))
        }
        print(JSONValue.object(answer).text())
    }
}
