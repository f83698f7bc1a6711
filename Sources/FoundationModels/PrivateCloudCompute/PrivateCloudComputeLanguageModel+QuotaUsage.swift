import Foundation

extension PrivateCloudComputeLanguageModel {
    /// How much of what the user may use has been used.
    public struct QuotaUsage: Sendable {
        public var status: Status
        /// What can be done to be allowed more, where anything can.
        public var limitIncreaseSuggestion: LimitIncreaseSuggestion?
        /// When counting begins anew, where known.
        public var resetDate: Date?

        public var isLimitReached: Bool {
            if case .limitReached = status { true } else { false }
        }

        public enum Status: Sendable {
            case belowLimit(BelowLimit)
            case limitReached(LimitReached)

            public struct BelowLimit: Sendable {
                public var isApproachingLimit: Bool
            }

            public struct LimitReached: Sendable {}
        }

        /// A way to be allowed more.
        public struct LimitIncreaseSuggestion: Sendable {
            package let text: String

            package init(text: String) { self.text = text }

            /// Says on standard error what the user can do.
            public func show() {
                FileHandle.standardError.write(Data("\(text)\n".utf8))
            }
        }
    }
}
