import Foundation
import Networking

/// What a server lets the user use in all, as far as it says.
///
/// Servers say it in the headers `x-quota-limit`, `x-quota-remaining` and `x-quota-reset` (seconds, or a date), in whatever unit they
/// count. A rate limit (`x-ratelimit-…-tokens`) is over within minutes and no quota; one that ends in an hour or more is one.
struct PrivateCloudQuota: Sendable, Hashable {
    /// The share of the limit below which it is about to be reached.
    private static let approachingShare = 0.1
    /// Seconds.
    private static let longestRateLimit = 3600.0

    var limit: Double?
    var remaining: Double?
    var resetDate: Date?

    init(limit: Double? = nil, remaining: Double? = nil, resetDate: Date? = nil) {
        self.limit = limit
        self.remaining = remaining
        self.resetDate = resetDate
    }

    /// - Returns: nil when the head says nothing about a quota.
    init?(_ head: HTTPHead) {
        func number(_ name: String) -> Double? {
            head.headers[name].flatMap { Double($0) }.flatMap { $0.isFinite && $0 >= 0 ? $0 : nil }
        }
        func reset(_ name: String) -> Date? {
            head.headers[name].flatMap { text in
                ChatCompletionsFailure.date(
                    ofRetryAfter: text.hasSuffix("s") ? String(text.dropLast()) : text, now: Date())
            }
        }
        if let limit = number("x-quota-limit"), limit > 0, let remaining = number("x-quota-remaining") {
            self.init(limit: limit, remaining: remaining, resetDate: reset("x-quota-reset"))
        } else if let limit = number("x-ratelimit-limit-tokens"), limit > 0,
            let remaining = number("x-ratelimit-remaining-tokens"), let end = reset("x-ratelimit-reset-tokens"),
            end.timeIntervalSinceNow >= Self.longestRateLimit
        {
            self.init(limit: limit, remaining: remaining, resetDate: end)
        } else {
            return nil
        }
    }

    var usage: PrivateCloudComputeLanguageModel.QuotaUsage {
        typealias Usage = PrivateCloudComputeLanguageModel.QuotaUsage
        guard let limit, let remaining else { return Usage(status: .belowLimit(.init(isApproachingLimit: false))) }
        // What was used up is there again when its time has come.
        if let resetDate, resetDate <= Date() { return Usage(status: .belowLimit(.init(isApproachingLimit: false))) }
        let suggestion = Usage.LimitIncreaseSuggestion(
            text: "Ask those who run the server for a larger quota, or name another one in FM_CLOUD_URL.")
        guard remaining > 0 else {
            return Usage(status: .limitReached(.init()), limitIncreaseSuggestion: suggestion, resetDate: resetDate)
        }
        let isApproaching = remaining < limit * Self.approachingShare
        return Usage(
            status: .belowLimit(.init(isApproachingLimit: isApproaching)),
            limitIncreaseSuggestion: isApproaching ? suggestion : nil, resetDate: resetDate)
    }
}
