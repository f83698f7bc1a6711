import Foundation
import JSON
import Networking

/// Why a server gave no answer. What Apple's API has an error for is thrown as that (`languageModelError`); the rest is for the model's
/// own error types.
package enum ChatCompletionsFailure: Error, Sendable {
    case invalidRequest(String)
    /// A status other than 200.
    case status(Int, headers: [String: String], body: Data)
    /// What the server said in the middle of a stream.
    case reported(Report)
    /// Bytes that are no response of the protocol.
    case malformed(String)
    /// The stream ended before the answer did.
    case interrupted(String)
    case connection(String)
    case timeout(String)
    case tooLarge(limit: Int)

    /// An error as servers write it: `{"error": {"message": …, "type": …, "param": …, "code": …}}`.
    package struct Report: Hashable, Sendable {
        package var message: String
        package var type: String?
        package var parameter: String?
        package var code: String?

        /// Reads the forms that are in use; nil for what is none.
        init?(_ value: JSONValue) {
            switch value["error"] {
            case .string(let message)?: self.init(message: message)
            case .object(let error)?:
                self.init(
                    message: error["message"]?.plainText ?? JSONValue.object(error).text(),
                    type: error["type"]?.plainText, parameter: error["param"]?.plainText,
                    code: error["code"]?.plainText)
            default:
                // Frameworks of servers answer {"detail": …} or {"message": …} before the protocol's own code runs.
                guard value["choices"] == nil, let text = (value["message"] ?? value["detail"])?.plainText else {
                    return nil
                }
                self.init(message: text)
            }
        }

        private init(message: String, type: String? = nil, parameter: String? = nil, code: String? = nil) {
            self.message = message
            self.type = type
            self.parameter = parameter
            self.code = code
        }
    }

    init(_ error: HTTPError) {
        self =
            switch error {
            case .invalidRequest(let text): .invalidRequest(text)
            case .connection(let text): .connection(text)
            case .timeout(let text): .timeout(text)
            case .interrupted(let text): .interrupted(text)
            case .tooLarge(let limit): .tooLarge(limit: limit)
            }
    }
}

extension JSONValue {
    /// The text of a string, or the JSON of anything but null.
    fileprivate var plainText: String? {
        switch self {
        case .null: nil
        case .string(let text): text
        default: self.text()
        }
    }
}

extension ChatCompletionsFailure {
    /// What the server said, where it said anything.
    package var report: Report? {
        switch self {
        case .reported(let report): report
        case .status(_, _, let body): (try? JSONValue(parsing: Array(body))).flatMap(Report.init)
        default: nil
        }
    }

    /// Whether the user has used up what he paid for or was given: coming back later does not help.
    package var isQuotaExhaustion: Bool {
        switch self {
        case .status(402, _, _): return true
        case .status(429, _, _), .reported:
            return report.map { $0.code == "insufficient_quota" || $0.type == "insufficient_quota" } ?? false
        default: return false
        }
    }

    /// Whether the server asks to come back later.
    package var isRateLimit: Bool {
        guard !isQuotaExhaustion else { return false }
        switch self {
        case .status(429, _, _): return true
        case .reported(let report):
            return report.code == "rate_limit_exceeded" || report.type == "rate_limit_error" || report.code == "429"
        default: return false
        }
    }

    /// When a server says that it takes requests again.
    package var retryDate: Date? {
        guard case .status(_, let headers, _) = self else { return nil }
        return headers["retry-after"].flatMap { Self.date(ofRetryAfter: $0, now: Date()) }
    }

    /// Reads `Retry-After`: seconds, or a date as RFC 9110 writes it.
    package static func date(ofRetryAfter text: String, now: Date) -> Date? {
        if let seconds = Double(text), seconds >= 0, seconds < 1e9 { return now.addingTimeInterval(seconds) }
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss zzz"
        return formatter.date(from: text)
    }

    /// The failure as an error that all models share; nil when it is none of those.
    package var languageModelError: LanguageModelError? {
        if isRateLimit {
            return .rateLimited(.init(resetDate: retryDate, debugDescription: description, metadata: metadata))
        }
        if let overflow = contextOverflow {
            return .contextSizeExceeded(
                .init(
                    contextSize: overflow.contextSize, tokenCount: overflow.tokenCount,
                    debugDescription: description, metadata: metadata))
        }
        switch self {
        case .timeout, .status(408, _, _), .status(504, _, _):
            return .timeout(.init(debugDescription: description, metadata: metadata))
        default: return nil
        }
    }

    private var metadata: [String: any Sendable] {
        guard case .status(let status, _, _) = self else { return [:] }
        return ["statusCode": status]
    }

    /// How servers say that a conversation is too long: by a code of the protocol, or in words with the two numbers.
    private var contextOverflow: (contextSize: Int, tokenCount: Int)? {
        guard let report else { return nil }
        if case .status(let status, _, _) = self, status != 400, status != 413, status != 422, status != 500 {
            return nil
        }
        let text = report.message
        let isNamed =
            report.code == "context_length_exceeded" || report.type == "exceed_context_size_error"
            || report.code == "exceed_context_size_error"
        func number(_ pattern: Regex<(Substring, Substring)>) -> Int? {
            text.firstMatch(of: pattern).flatMap { Int($0.1) }
        }
        // "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens …"
        let size = number(/context (?:length|size|window) (?:is|of) \(?([0-9]+)/.ignoresCase())
        let count = number(/(?:requested|resulted in|has) \(?([0-9]+)/.ignoresCase())
        guard isNamed || size != nil else { return nil }
        return (size ?? 0, count ?? 0)
    }
}

extension ChatCompletionsFailure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .invalidRequest(let text): "The request cannot be made: \(text)."
        case .status(let status, _, let body):
            "The server answered with the status \(status): "
                + (report?.message ?? String(decoding: body.prefix(500), as: UTF8.self))
        case .reported(let report): "The server reports: \(report.message)"
        case .malformed(let text): "The server does not speak the Chat Completions protocol: \(text)."
        case .interrupted(let text): "The answer broke off: \(text)."
        case .connection(let text): "There is no connection to the server: \(text)."
        case .timeout(let text): "The server took too long: \(text)."
        case .tooLarge(let limit): "The answer is larger than \(limit) bytes."
        }
    }
}
