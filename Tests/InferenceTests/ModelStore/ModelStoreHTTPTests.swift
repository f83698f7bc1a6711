import Foundation
import Testing

import Inference
import TestSupport

/// Fetches from a server that does everything wrong that servers and networks do.
@Suite struct ModelStoreHTTPTests {
    let folder = ScratchFolder()
    let body = modelBytes(300_000)

    /// What must hold after every failed pull: nothing under a final name.
    private func expectNothingInstalled() {
        #expect(folder.files("models").filter { $0.hasSuffix(".gguf") } == [])
    }

    /// The error of a pull that must fail.
    private func failure(_ store: ModelStore, _ reference: String, sha256: String? = nil) async -> ModelStoreError? {
        do throws(ModelStoreError) {
            _ = try await store.pullQuickly(reference, sha256: sha256)
            return nil
        } catch {
            return error
        }
    }

    @Test func aWholeFileArrives() async throws {
        let server = FaultServer { [body] in FaultServer.whole(body, $0) }
        defer { server.stop() }
        let result = try await ModelStore.scratch(folder).pullQuickly(server.url("/a/Some-Model.gguf?download=true"))
        #expect(result.isNew)
        #expect(result.model.name == "Some-Model")
        #expect(result.sha256 == digest(body))
        #expect(folder.read("models/Some-Model.gguf") == body)
        #expect(folder.files("models/.incomplete") == [])
    }

    @Test func aSecondPullAsksNothing() async throws {
        let server = FaultServer { [body] in FaultServer.whole(body, $0) }
        defer { server.stop() }
        let store = ModelStore.scratch(folder)
        _ = try await store.pullQuickly(server.url())
        let again = try await store.pullQuickly(server.url())
        #expect(!again.isNew)
        #expect(server.requests.count == 1)
        // The same name from elsewhere is another file.
        let other = try await store.pullQuickly(server.url("/other/model.gguf"))
        #expect(other.isNew)
    }

    @Test(arguments: [false, true]) func aCutConnectionIsContinued(reset: Bool) async throws {
        let server = FaultServer { [body] request in
            request.number < 2
                ? FaultServer.cut(body, request, after: 100_000, reset: reset) : FaultServer.whole(body, request)
        }
        defer { server.stop() }
        let result = try await ModelStore.scratch(folder).pullQuickly(server.url())
        #expect(result.sha256 == digest(body))
        let requests = server.requests
        #expect(requests.count == 3)
        #expect(requests[0].headers["range"] == nil)
        // What a reset throws away on its way is not known, but something must have been kept.
        #expect((requests[2].rangeStart ?? 0) > 0)
        if !reset { #expect(requests.map(\.rangeStart) == [nil, 100_000, 200_000]) }
        #expect(requests[2].headers["if-range"] == "\"v1\"")
    }

    @Test func manyCutsWithProgressAreNoFailure() async throws {
        let server = FaultServer { [body] in FaultServer.cut(body, $0, after: 20_000) }
        defer { server.stop() }
        let result = try await ModelStore.scratch(folder).pullQuickly(server.url())
        #expect(result.sha256 == digest(body))
        #expect(server.requests.count == 15)
    }

    @Test func aServerThatAlwaysCutsAtOnceIsGivenUp() async {
        let server = FaultServer { [body] in FaultServer.cut(body, $0, after: 0) }
        defer { server.stop() }
        let error = await failure(.scratch(folder), server.url())
        guard case .stalled = error else { Issue.record("\(String(describing: error))"); return }
        #expect(server.requests.count == 3)
        expectNothingInstalled()
    }

    @Test func aServerWithoutRangesIsReadFromTheBeginning() async throws {
        let server = FaultServer { [body] request in
            var plain = request
            plain.headers["range"] = nil
            return request.number == 0
                ? FaultServer.cut(body, plain, after: 100_000) : FaultServer.whole(body, plain)
        }
        defer { server.stop() }
        let result = try await ModelStore.scratch(folder).pullQuickly(server.url())
        #expect(result.sha256 == digest(body))
        #expect(server.requests.count == 2)
    }

    @Test func aServerWithoutRangesThatCutsForEverIsGivenUp() async {
        let server = FaultServer { [body] request in
            var plain = request
            plain.headers["range"] = nil
            return FaultServer.cut(body, plain, after: 100_000)
        }
        defer { server.stop() }
        let error = await failure(.scratch(folder), server.url())
        guard case .stalled = error else { Issue.record("\(String(describing: error))"); return }
        #expect(server.requests.count == 3)
        expectNothingInstalled()
    }

    @Test func anotherVersionOfTheFileIsNotMixedIn() async throws {
        let newer = modelBytes(250_000, seed: 2)
        let server = FaultServer { [body] request in
            request.number == 0
                ? FaultServer.cut(body, request, after: 100_000) : FaultServer.whole(newer, request, tag: "\"v2\"")
        }
        defer { server.stop() }
        let result = try await ModelStore.scratch(folder).pullQuickly(server.url())
        #expect(folder.read("models/model.gguf") == newer)
        #expect(result.sha256 == digest(newer))
    }

    @Test func aServerWithoutTagsIsOnlyContinuedWhenTheHashIsKnown() async throws {
        for known in [false, true] {
            let folder = ScratchFolder()
            let server = FaultServer { [body] request in
                let steps =
                    request.number == 0
                    ? FaultServer.cut(body, request, after: 100_000, tag: "")
                    : FaultServer.whole(body, request, tag: "")
                return steps
            }
            defer { server.stop() }
            let store = ModelStore.scratch(folder)
            let result = try await store.pullQuickly(server.url(), sha256: known ? digest(body) : nil)
            #expect(result.sha256 == digest(body))
            #expect(server.requests[1].rangeStart == (known ? 100_000 : nil))
        }
    }

    @Test func aServerThatSendsAnotherRangeIsAskedAnew() async throws {
        let server = FaultServer { [body] request in
            switch request.number {
            case 0: return FaultServer.cut(body, request, after: 100_000)
            case 1:
                var wrong = request
                wrong.headers["range"] = "bytes=50000-"
                return FaultServer.whole(body, wrong)
            default: return FaultServer.whole(body, request)
            }
        }
        defer { server.stop() }
        let result = try await ModelStore.scratch(folder).pullQuickly(server.url())
        #expect(result.sha256 == digest(body))
        #expect(server.requests.map(\.rangeStart) == [nil, 100_000, nil])
    }

    @Test func aStandstillIsNoticedAndContinued() async throws {
        let server = FaultServer { [body] request in
            guard request.number == 0 else { return FaultServer.whole(body, request) }
            // 200 bytes and then a trickle of one byte now and then.
            let head = FaultServer.whole(body, request)[0]
            let trickle = (200..<260).flatMap { [.send([body[$0]]), .pause(0.1)] as [FaultServer.Step] }
            return [head, .send(Array(body[..<200]))] + trickle
        }
        defer { server.stop() }
        let result = try await ModelStore.scratch(folder).pullQuickly(server.url())
        #expect(result.sha256 == digest(body))
        #expect(server.requests.count == 2)
        #expect((server.requests[1].rangeStart ?? 0) >= 200)
    }

    @Test func aTrickleThatNeverEndsIsGivenUp() async {
        let server = FaultServer { [body] request in
            [FaultServer.whole(body, request)[0], .send(Array(body[..<10])), .pause(4)]
        }
        defer { server.stop() }
        let error = await failure(.scratch(folder), server.url())
        guard case .stalled(_, let received, _) = error else { Issue.record("\(String(describing: error))"); return }
        #expect(received >= 10 && received < 100)
        expectNothingInstalled()
    }

    @Test func aLongerOrShorterFileThanTheCatalogueSaysIsRefused() async {
        let server = FaultServer { [body] in FaultServer.whole(body, $0) }
        defer { server.stop() }
        for size in [Int64(200_000), 400_000] {
            let store = ModelStore.scratch(folder, [.sample("m", .url(server.url()), body, size: size)])
            #expect(
                await failure(store, "m")
                    == .wrongLength(source: server.url(), expected: size, actual: Int64(body.count)))
            expectNothingInstalled()
            #expect(folder.files("models/.incomplete") == [])
        }
    }

    @Test func aBodyWithoutLengthIsHeldToTheCatalogue() async throws {
        // No Content-Length: the end of the connection is the end of the body.
        let server = FaultServer { [body] request in
            let count = request.path == "/short" ? 200_000 : request.path == "/long" ? 300_001 : 300_000
            return [FaultServer.head("200 OK", [:]), .send(Array((body + [0]).prefix(count)))]
        }
        defer { server.stop() }
        for (path, isGood) in [("/short", false), ("/long", false), ("/right", true)] {
            let store = ModelStore.scratch(ScratchFolder(), [.sample("m", .url(server.url(path)), body)])
            if isGood {
                #expect(try await store.pullQuickly("m").sha256 == digest(body))
            } else {
                let error = await failure(store, "m")
                guard case .wrongLength = error else { Issue.record("\(path): \(String(describing: error))"); return }
            }
        }
    }

    @Test func aWrongHashIsRefusedAndThrownAway() async throws {
        let server = FaultServer { [body] in FaultServer.whole(body, $0) }
        defer { server.stop() }
        let other = digest([1, 2, 3])
        let entry = ModelCatalogue.Entry.sample("m", .url(server.url()), body, sha256: other)
        let store = ModelStore.scratch(folder, [entry])
        #expect(await failure(store, "m") == .wrongHash(source: server.url(), expected: other, actual: digest(body)))
        expectNothingInstalled()
        #expect(folder.files("models/.incomplete") == [])
        #expect(
            await failure(store, server.url("/n.gguf"), sha256: other)
                == .wrongHash(source: server.url("/n.gguf"), expected: other, actual: digest(body)))
    }

    @Test func theHashOfAHubIsHeld() async throws {
        let wrong = digest([7])
        let server = FaultServer { [body] request in
            if request.path.hasPrefix("/owner") {
                let named = request.path.contains("wrong") ? wrong : digest(body)
                return [
                    FaultServer.head(
                        "302 Found",
                        ["Location": "/storage/1", "X-Linked-ETag": "\"\(named)\"", "Content-Length": "0"])
                ]
            }
            return FaultServer.whole(body, request)
        }
        defer { server.stop() }
        let store = ModelStore.scratch(
            folder, environment: ["HF_ENDPOINT": "http://127.0.0.1:\(server.port)/", "HF_TOKEN": "secret"])
        let result = try await store.pullQuickly("hf:owner/repository/folder/right file.gguf@v1.0")
        #expect(result.model.name == "right-file" && result.sha256 == digest(body))
        #expect(server.requests[0].path == "/owner/repository/resolve/v1.0/folder/right%20file.gguf")
        #expect(server.requests[0].headers["authorization"] == "Bearer secret")
        #expect(
            await failure(store, "hf:owner/repository/wrong.gguf")
                == .wrongHash(source: "hf:owner/repository/wrong.gguf", expected: wrong, actual: digest(body)))
    }

    @Test(arguments: [
        ("404 Not Found", ModelStoreError.notFound(source: "")), ("410 Gone", .notFound(source: "")),
        ("401 Unauthorized", .accessDenied(source: "", status: 401)),
        ("403 Forbidden", .accessDenied(source: "", status: 403)),
        ("400 Bad Request", .httpStatus(source: "", status: 400)),
    ]) func aRefusalIsFinal(status: String, expected: ModelStoreError) async {
        let server = FaultServer { _ in [FaultServer.head(status, ["Content-Length": "4"]), .send(Array("GGUF".utf8))] }
        defer { server.stop() }
        let error = await failure(.scratch(folder), server.url())
        let url = server.url()
        let named: ModelStoreError =
            switch expected {
            case .notFound: .notFound(source: url)
            case .accessDenied(_, let status): .accessDenied(source: url, status: status)
            case .httpStatus(_, let status): .httpStatus(source: url, status: status)
            default: expected
            }
        #expect(error == named)
        #expect(server.requests.count == 1)
        expectNothingInstalled()
    }

    @Test func aBusyServerIsAskedAgain() async throws {
        let server = FaultServer { [body] request in
            request.number < 2
                ? [FaultServer.head("503 Service Unavailable", ["Retry-After": "0", "Content-Length": "0"])]
                : FaultServer.whole(body, request)
        }
        defer { server.stop() }
        #expect(try await ModelStore.scratch(folder).pullQuickly(server.url()).sha256 == digest(body))
    }

    @Test func aPageIsNoModel() async {
        let page = Array("<!DOCTYPE html><html><body>Please log in</body></html>".utf8)
        let server = FaultServer { FaultServer.whole(page, $0) }
        defer { server.stop() }
        let error = await failure(.scratch(folder), server.url())
        #expect(error == .unusableFile(source: server.url(), reason: "\(GGUFError.notGGUF)"))
        #expect(error?.description.contains("not of a page") == true)
        expectNothingInstalled()
        #expect(folder.files("models/.incomplete") == [])
    }

    @Test func anEmptyFileIsNoModel() async {
        let server = FaultServer { FaultServer.whole([], $0) }
        defer { server.stop() }
        #expect(
            await failure(.scratch(folder), server.url())
                == .unusableFile(source: server.url(), reason: "it is empty"))
        #expect(folder.files("models/.incomplete") == [])
    }

    /// The server is at peace with itself: what it calls the whole file is a part of one.
    @Test(arguments: [4, 24, 100, 128, 299_998]) func aDamagedFileIsNotInstalled(count: Int) async {
        let server = FaultServer { [body] in FaultServer.whole(Array(body[..<count]), $0) }
        defer { server.stop() }
        guard case .unusableFile = await failure(.scratch(folder), server.url()) else {
            Issue.record("installed")
            return
        }
        expectNothingInstalled()
        #expect(folder.files("models/.incomplete") == [])
    }

    @Test func whatCameToNothingLeavesNothing() async {
        let server = FaultServer { _ in [FaultServer.head("404 Not Found", ["Content-Length": "0"])] }
        defer { server.stop() }
        #expect(await failure(.scratch(folder), server.url()) == .notFound(source: server.url()))
        #expect(folder.files("models/.incomplete") == [])
    }

    /// Numbers that are none, are negative, contradict each other or would overflow a sum.
    @Test(arguments: [
        "bytes 100000-299999/-9223372036854775808", "bytes 100000-299999/9223372036854775807",
        "bytes 100000-299999/-1", "bytes 100000-299999/+300000", "bytes 100000-299999/0",
        "bytes -100000-299999/300000", "bytes 100000-5/300000", "bytes 99999999999999999999-5/6", "bytes 100000", "",
    ]) func aHostileContentRangeIsNotBelieved(range: String) async throws {
        let server = FaultServer { [body] request in
            guard let start = request.rangeStart else {
                return request.number == 0
                    ? FaultServer.cut(body, request, after: 100_000) : FaultServer.whole(body, request)
            }
            let head = FaultServer.head(
                "206 Partial Content", ["ETag": "\"v1\"", "Content-Range": range, "Content-Length": "200000"])
            return [head, .send(Array(body[start...]))]
        }
        defer { server.stop() }
        // The part is not taken, and the file is fetched from its beginning.
        #expect(try await ModelStore.scratch(folder).pullQuickly(server.url()).sha256 == digest(body))
        #expect(server.requests.map(\.rangeStart) == [nil, 100_000, nil])
    }

    @Test(arguments: ["-5", "9223372036854775808", "99999999999999999999999", "nan", "0x10", "1e3", " "])
    func aHostileContentLengthIsNoNumber(length: String) async {
        let server = FaultServer { [body] _ in
            [FaultServer.head("200 OK", ["Content-Length": length]), .send(Array(body[..<1000]))]
        }
        defer { server.stop() }
        // Read to the end of the connection or refused, but never installed and no crash.
        #expect(await failure(.scratch(folder), server.url()) != nil)
        expectNothingInstalled()
    }

    @Test(arguments: ["-1", "nan", "inf", "1e400", "-9223372036854775808", "soon"])
    func aHostileRetryAfterIsNotWaitedFor(seconds: String) async throws {
        let server = FaultServer { [body] request in
            request.number < 2
                ? [FaultServer.head("503 Service Unavailable", ["Retry-After": seconds, "Content-Length": "0"])]
                : FaultServer.whole(body, request)
        }
        defer { server.stop() }
        #expect(try await ModelStore.scratch(folder).pullQuickly(server.url()).sha256 == digest(body))
    }

    @Test func aServerThatSendsPartsUnaskedIsRefused() async {
        let server = FaultServer { [body] _ in
            let head = FaultServer.head(
                "206 Partial Content", ["Content-Range": "bytes 5-300004/300005", "Content-Length": "300000"])
            return [head, .send(body)]
        }
        defer { server.stop() }
        guard case .badAnswer = await failure(.scratch(folder), server.url()) else { Issue.record("taken"); return }
        #expect(server.requests.count == 1)
    }

    @Test func whatIsNoHTTPIsNamed() async {
        let server = FaultServer { _ in [.send(Array("SSH-2.0-OpenSSH_9.2\r\n".utf8))] }
        defer { server.stop() }
        let error = await failure(.scratch(folder), server.url())
        guard case .badAnswer = error else { Issue.record("\(String(describing: error))"); return }
        #expect(error?.description.contains("network is back") == false)
    }

    @Test func aFileLargerThanTheDiskIsRefusedAtTheBeginning() async {
        let server = FaultServer { [body] _ in
            [FaultServer.head("200 OK", ["Content-Length": "\(1 << 58)"]), .send(body), .pause(2)]
        }
        defer { server.stop() }
        let error = await failure(.scratch(folder), server.url())
        guard case .noSpace(_, let needed, let available) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect((needed ?? 0) > (available ?? 0))
        expectNothingInstalled()
        let store = ModelStore.scratch(folder, [.sample("m", .url(server.url()), body, size: 1 << 58)])
        guard case .noSpace = await failure(store, "m") else { Issue.record("accepted"); return }
    }

    @Test func noServerIsANetworkError() async {
        let server = FaultServer { _ in [] }
        let url = server.url()
        server.stop()
        guard case .network(let host, _) = await failure(.scratch(folder), url) else {
            Issue.record("no error"); return
        }
        #expect(host == "127.0.0.1")
    }

    @Test func anInterruptedPullGoesOnWhereItWas() async throws {
        let server = FaultServer { [body] request in
            request.number == 0
                ? FaultServer.cut(body, request, after: 100_000) + [.pause(20)] : FaultServer.whole(body, request)
        }
        defer { server.stop() }
        let store = ModelStore.scratch(folder)
        let arrived = AsyncStream<Void>.makeStream()
        let url = server.url()
        let task = Task {
            try await store.pull(url) { progress in
                if progress.received >= 100_000 { arrived.continuation.finish() }
            }
        }
        for await _ in arrived.stream {}
        task.cancel()
        await #expect(throws: ModelStoreError.cancelled) { try await task.value }
        #expect(folder.files("models/.incomplete") == ["model.lock", "model.partial", "model.partial.json"])
        expectNothingInstalled()
        let result = try await store.pullQuickly(url)
        #expect(result.sha256 == digest(body))
        #expect(server.requests.map(\.rangeStart) == [nil, 100_000])
    }

    @Test func whatAnotherOriginLeftIsNotContinued() async throws {
        let server = FaultServer { [body] in FaultServer.whole(body, $0) }
        defer { server.stop() }
        folder.write(modelBytes(1000, seed: 9), "models/.incomplete/model.partial")
        folder.write(Array(#"{"origin": "elsewhere", "parts": []}"#.utf8), "models/.incomplete/model.partial.json")
        let result = try await ModelStore.scratch(folder).pullQuickly(server.url())
        #expect(result.sha256 == digest(body))
        #expect(server.requests.map(\.rangeStart) == [nil])
    }

    @Test(arguments: [
        "", "{", "[]", #"{"origin": 3}"#, #"{"origin": "X", "parts": [-5]}"#, #"{"origin": "X", "parts": [1e300]}"#,
        #"{"origin": "X", "parts": [1000000000000000, 1000000000000000]}"#,
    ])
    func aDamagedJournalMeansFromTheBeginning(text: String) async throws {
        let server = FaultServer { [body] in FaultServer.whole(body, $0) }
        defer { server.stop() }
        folder.write(modelBytes(1000, seed: 9), "models/.incomplete/model.partial")
        folder.write(Array(text.replacing("X", with: server.url()).utf8), "models/.incomplete/model.partial.json")
        #expect(try await ModelStore.scratch(folder).pullQuickly(server.url()).sha256 == digest(body))
        #expect(server.requests.map(\.rangeStart) == [nil])
    }

    @Test func aRedirectionToAFileIsRefused() async {
        let server = FaultServer { _ in
            [FaultServer.head("302 Found", ["Location": "file:///etc/hostname", "Content-Length": "0"])]
        }
        defer { server.stop() }
        let error = await failure(.scratch(folder), server.url())
        guard case .badAnswer(_, let reason) = error else { Issue.record("\(String(describing: error))"); return }
        #expect(reason.contains("redirects"))
        expectNothingInstalled()
    }

    @Test func redirectionsInACircleEnd() async {
        let server = FaultServer { _ in [FaultServer.head("302 Found", ["Location": "/again", "Content-Length": "0"])] }
        defer { server.stop() }
        let error = await failure(.scratch(folder), server.url())
        guard case .badAnswer(_, let reason) = error else { Issue.record("\(String(describing: error))"); return }
        #expect(reason.contains("redirects more than"))
    }

    @Test func twoPullsOfOneModelFetchItOnce() async throws {
        let server = FaultServer { [body] request in
            let steps = FaultServer.whole(body, request)
            return [steps[0], .send(Array(body[..<1000])), .pause(0.5), .send(Array(body[1000...]))]
        }
        defer { server.stop() }
        let store = ModelStore.scratch(folder)
        let url = server.url()
        let waited = Flag()
        async let first = store.pull(url) { if $0.stage == .waiting { waited.set() } }
        async let second = store.pull(url) { if $0.stage == .waiting { waited.set() } }
        let results = try await [first, second]
        #expect(results.filter(\.isNew).count == 1)
        #expect(server.requests.count == 1)
        #expect(waited.isSet)
        #expect(folder.read("models/model.gguf") == body)
    }
}
