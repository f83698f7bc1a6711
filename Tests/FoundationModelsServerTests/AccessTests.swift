import FoundationModelsServer
import Synchronization
import Testing

@Suite struct AccessTests {
    private func status(_ policy: AccessPolicy, _ headers: [String: [String]], path: String = "/v1/models") -> Int {
        do throws(APIError) {
            _ = try policy.client(HTTPRequestHead(method: "GET", path: path, headers: headers))
            return 200
        } catch {
            return error.status
        }
    }

    @Test(arguments: [
        ("localhost:11434", 200), ("127.0.0.1", 200), ("[::1]:8080", 200), ("LOCALHOST", 200), ("box.lan:1", 200),
        ("evil.example", 403), ("localhost.evil.example", 403), ("127.0.0.1.evil.example:80", 403), ("", 403),
    ])
    func hosts(host: String, expected: Int) {
        #expect(status(AccessPolicy(hosts: ["box.lan"]), ["host": [host]]) == expected)
    }

    @Test func oneHostHeaderIsNeeded() {
        #expect(status(AccessPolicy(), [:]) == 400)
        #expect(status(AccessPolicy(), ["host": ["localhost", "localhost"]]) == 400)
    }

    @Test(arguments: [
        ("http://localhost:11434", 200), ("http://app.example", 200), ("https://evil.example", 403), ("null", 403),
        ("http://localhost:3000", 403), ("http://app.example.evil.example", 403),
    ])
    func origins(origin: String, expected: Int) {
        let policy = AccessPolicy(origins: ["http://app.example"])
        #expect(status(policy, ["host": ["localhost:11434"], "origin": [origin]]) == expected)
    }

    @Test(arguments: [
        ("Bearer secret", 200), ("bearer other", 200), ("Bearer secre", 401), ("Bearer secretx", 401), ("secret", 401),
        ("Basic secret", 401), ("Bearer ", 401), ("Bearer  secret", 401),
    ])
    func tokens(value: String, expected: Int) {
        let policy = AccessPolicy(tokens: ["secret", "other"])
        #expect(status(policy, ["host": ["localhost"], "authorization": [value]]) == expected)
    }

    @Test func tokensAreNeededEverywhereButForHealth() {
        let policy = AccessPolicy(tokens: ["secret"])
        #expect(status(policy, ["host": ["localhost"]]) == 401)
        #expect(status(policy, ["host": ["localhost"]], path: "/metrics") == 401)
        #expect(status(policy, ["host": ["localhost"]], path: "/health") == 200)
        #expect(
            status(policy, ["host": ["localhost"], "authorization": ["Bearer secret", "Bearer secret"]]) == 401)
    }

    /// A clock that a test moves.
    private final class Clock: Sendable {
        let now = Mutex(0.0)
    }

    private func refusal(_ accounts: ClientAccounts, _ client: String) -> APIError? {
        do throws(APIError) { try accounts.begin(client) } catch { return error }
        return nil
    }

    @Test func requestsPerMinute() {
        let clock = Clock()
        let accounts = ClientAccounts(.init(requestsPerMinute: 2)) { clock.now.withLock { $0 } }
        #expect(refusal(accounts, "a") == nil)
        clock.now.withLock { $0 = 20 }
        #expect(refusal(accounts, "a") == nil)
        let error = refusal(accounts, "a")
        #expect(error?.status == 429 && error?.code == "rate_limit_exceeded" && error?.retryAfter == 40)
        #expect(refusal(accounts, "b") == nil)
        clock.now.withLock { $0 = 61 }
        #expect(refusal(accounts, "a") == nil)
    }

    @Test func tokensPerDay() {
        let clock = Clock()
        let accounts = ClientAccounts(.init(tokensPerDay: 100)) { clock.now.withLock { $0 } }
        #expect(refusal(accounts, "a") == nil)
        accounts.use(60, by: "a")
        #expect(
            accounts.headers("a").map { "\($0.name): \($0.value)" } == [
                "x-ratelimit-limit-tokens: 100", "x-ratelimit-remaining-tokens: 40",
                "x-ratelimit-reset-tokens: 86400s", "x-quota-limit: 100", "x-quota-remaining: 40",
                "x-quota-reset: 86400",
            ])
        accounts.use(60, by: "a")
        clock.now.withLock { $0 = 86_000 }
        let error = refusal(accounts, "a")
        #expect(error?.status == 429 && error?.code == "insufficient_quota" && error?.retryAfter == 400)
        clock.now.withLock { $0 = 86_401 }
        #expect(refusal(accounts, "a") == nil)
    }

    @Test func theGateBoundsWhatIsAdmitted() throws {
        let gate = AdmissionGate(concurrent: 2, queued: 1)
        let first = try gate.enter(2)
        let second = try gate.enter(1)
        #expect(gate.admitted == 3 && gate.waiting == 1)
        let tooMany = #expect(throws: APIError.self) { try gate.enter(4) }
        #expect(tooMany?.status == 400 && tooMany?.parameter == "n")
        let error = #expect(throws: APIError.self) { try gate.enter(1) }
        #expect(error?.status == 429 && (error?.retryAfter ?? 0) >= 1)
        first.release()
        first.release()
        #expect(gate.admitted == 1)
        _ = try gate.enter(2)
        second.release()
        #expect(gate.admitted == 0)
    }
}
