import Foundation
import Synchronization

/// What each client has used, and what it may use: requests per minute and tokens per day.
///
/// Kept in memory: a server that starts anew begins to count anew.
package final class ClientAccounts: Sendable {
    package struct Allowance: Sendable, Hashable {
        /// Nil: as many as it likes.
        package var requestsPerMinute: Int?
        package var tokensPerDay: Int?

        package init(requestsPerMinute: Int? = nil, tokensPerDay: Int? = nil) {
            self.requestsPerMinute = requestsPerMinute
            self.tokensPerDay = tokensPerDay
        }
    }

    private struct Account {
        var minuteStart: Double
        var requests = 0
        var dayStart: Double
        var tokens = 0
    }

    private let allowance: Allowance
    private let accounts = Mutex<[String: Account]>([:])
    private let clock: @Sendable () -> Double

    private static let minute = 60.0
    private static let day = 86_400.0
    /// Clients above this number are forgotten when their day is over.
    private static let keptAccounts = 10_000

    /// - Parameter clock: Seconds from any point in time.
    package init(
        _ allowance: Allowance, clock: @escaping @Sendable () -> Double = { ProcessInfo.processInfo.systemUptime }
    ) {
        self.allowance = allowance
        self.clock = clock
    }

    /// Counts a request, or refuses it.
    package func begin(_ client: String) throws(APIError) {
        let refusal: APIError? = accounts.withLock { accounts in
            let now = clock()
            var account = current(accounts[client], now)
            if let limit = allowance.tokensPerDay, account.tokens >= limit {
                return APIError(
                    status: 429, type: "insufficient_quota", code: "insufficient_quota",
                    retryAfter: Int((account.dayStart + Self.day - now).rounded(.up)),
                    "You have used the \(limit) tokens that you may use in a day.")
            }
            if let limit = allowance.requestsPerMinute, account.requests >= limit {
                return APIError(
                    status: 429, type: "requests", code: "rate_limit_exceeded",
                    retryAfter: Int((account.minuteStart + Self.minute - now).rounded(.up)),
                    "You have made the \(limit) requests that you may make in a minute.")
            }
            account.requests += 1
            if accounts.count >= Self.keptAccounts, accounts[client] == nil {
                accounts = accounts.filter { now - $0.value.dayStart < Self.day }
            }
            accounts[client] = account
            return nil
        }
        if let refusal { throw refusal }
    }

    /// Counts the tokens of an answer.
    package func use(_ tokens: Int, by client: String) {
        accounts.withLock { accounts in
            var account = current(accounts[client], clock())
            account.tokens += tokens
            accounts[client] = account
        }
    }

    /// What is left, in the headers that clients of Chat Completions know, and those for quotas.
    package func headers(_ client: String) -> [(name: String, value: String)] {
        accounts.withLock { accounts in
            let now = clock()
            let account = current(accounts[client], now)
            var headers: [(name: String, value: String)] = []
            func add(_ name: String, _ limit: Int?, _ used: Int, _ reset: Double) {
                guard let limit else { return }
                headers.append(("x-ratelimit-limit-\(name)", "\(limit)"))
                headers.append(("x-ratelimit-remaining-\(name)", "\(max(0, limit - used))"))
                headers.append(("x-ratelimit-reset-\(name)", "\(Int(max(0, reset - now).rounded(.up)))s"))
            }
            add("requests", allowance.requestsPerMinute, account.requests, account.minuteStart + Self.minute)
            add("tokens", allowance.tokensPerDay, account.tokens, account.dayStart + Self.day)
            // That tokens are a quota, which ends with the day, and no limit on the rate.
            if let limit = allowance.tokensPerDay {
                headers.append(("x-quota-limit", "\(limit)"))
                headers.append(("x-quota-remaining", "\(max(0, limit - account.tokens))"))
                headers.append(
                    ("x-quota-reset", "\(Int(max(0, account.dayStart + Self.day - now).rounded(.up)))"))
            }
            return headers
        }
    }

    private func current(_ known: Account?, _ now: Double) -> Account {
        var account = known ?? Account(minuteStart: now, dayStart: now)
        if now - account.minuteStart >= Self.minute {
            account.minuteStart = now
            account.requests = 0
        }
        if now - account.dayStart >= Self.day {
            account.dayStart = now
            account.tokens = 0
        }
        return account
    }
}
