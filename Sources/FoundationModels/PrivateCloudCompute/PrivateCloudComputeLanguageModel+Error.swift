import Foundation

extension PrivateCloudComputeLanguageModel {
    public enum Error: Swift.Error, LocalizedError {
        case networkFailure(NetworkFailure)
        case quotaLimitReached(QuotaLimitReached)
        case serviceUnavailable(ServiceUnavailable)

        /// The server could not be reached, or the connection broke.
        public struct NetworkFailure: Sendable {
            public var debugDescription: String

            public init(debugDescription: String) { self.debugDescription = debugDescription }
        }

        /// The user has used all that he may.
        public struct QuotaLimitReached: Sendable {
            public var limitIncreaseSuggestion: QuotaUsage.LimitIncreaseSuggestion?
            /// When more may be used, where known.
            public var resetDate: Date?
            public var debugDescription: String

            public init(
                limitIncreaseSuggestion: QuotaUsage.LimitIncreaseSuggestion? = nil, resetDate: Date? = nil,
                debugDescription: String
            ) {
                self.limitIncreaseSuggestion = limitIncreaseSuggestion
                self.resetDate = resetDate
                self.debugDescription = debugDescription
            }
        }

        /// There is no server, or it does not answer requests.
        public struct ServiceUnavailable: Sendable {
            public var debugDescription: String

            public init(debugDescription: String) { self.debugDescription = debugDescription }
        }

        public var errorDescription: String? {
            switch self {
            case .networkFailure(let details): "The server could not be reached. \(details.debugDescription)"
            case .quotaLimitReached(let details): "The quota is used up. \(details.debugDescription)"
            case .serviceUnavailable(let details): "The server is not available. \(details.debugDescription)"
            }
        }
    }
}

extension PrivateCloudComputeLanguageModel.Error: CustomDebugStringConvertible {
    public var debugDescription: String {
        switch self {
        case .networkFailure(let details): details.debugDescription
        case .quotaLimitReached(let details): details.debugDescription
        case .serviceUnavailable(let details): details.debugDescription
        }
    }
}
