public import Foundation
import FoundationModels

extension ChatCompletionsLanguageModel {
    /// An error that the server reports in the middle of a stream.
    public struct APIError: LocalizedError, Hashable, Sendable {
        /// What went wrong, in the server's words.
        public var message: String
        /// The kind of error, such as `invalid_request_error`.
        public var type: String?
        /// The parameter of the request that is at fault.
        public var param: String?
        /// A short code for programs.
        public var code: String?

        public init(message: String, type: String? = nil, param: String? = nil, code: String? = nil) {
            self.message = message
            self.type = type
            self.param = param
            self.code = code
        }

        public var errorDescription: String? { "The server reports: \(message)" }
    }

    /// Why there is no answer of the server.
    public enum RequestError: LocalizedError, Sendable {
        /// The request cannot be made from what was given.
        case invalidRequest(_ description: String)
        /// What came is no stream of the protocol.
        case invalidStreamData
        /// The server answered with a status other than 200.
        case httpError(statusCode: Int, data: Data)
        /// There is no connection to the server.
        case connectionFailed(_ description: String)
        /// The stream ended before the answer did.
        case streamInterrupted(_ description: String)
        /// The answer is larger than a response may be.
        case responseTooLarge(limit: Int)

        public var errorDescription: String? {
            switch self {
            case .invalidRequest(let description): "The request cannot be made: \(description)"
            case .invalidStreamData:
                "What the server sent is no stream of the Chat Completions protocol. Set FM_TRACE=1 to see what it sent."
            case .httpError(let statusCode, let data):
                "The server answered with the status \(statusCode). \(Self.advice(statusCode))"
                    + String(decoding: data.prefix(2000), as: UTF8.self)
            case .connectionFailed(let description): "There is no connection to the server: \(description)"
            case .streamInterrupted(let description): "The answer broke off: \(description)"
            case .responseTooLarge(let limit): "The answer is larger than \(limit) bytes."
            }
        }

        private static func advice(_ statusCode: Int) -> String {
            switch statusCode {
            case 401, 403: "Is there a right key in additionalHeaders? "
            case 404: "Are the address and the model's name right? "
            case 300..<400: "Redirections are not followed: give the address where the server is. "
            default: ""
            }
        }
    }

    static func error(_ failure: ChatCompletionsFailure) -> any Error {
        switch failure {
        case .invalidRequest(let text): return RequestError.invalidRequest(text)
        case .status(let status, _, let body): return RequestError.httpError(statusCode: status, data: body)
        case .reported(let report):
            return APIError(message: report.message, type: report.type, param: report.parameter, code: report.code)
        case .malformed:
            SessionTrace.current?.note(failure.description)
            return RequestError.invalidStreamData
        case .interrupted(let text): return RequestError.streamInterrupted(text)
        case .connection(let text): return RequestError.connectionFailed(text)
        case .timeout(let text):
            return LanguageModelError.timeout(.init(debugDescription: text))
        case .tooLarge(let limit): return RequestError.responseTooLarge(limit: limit)
        }
    }
}
