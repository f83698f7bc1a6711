import CLibcurl
import Foundation

/// Brings one file by HTTP, through libcurl, into a `PartialFile`: goes on where an earlier fetch stopped when the server
/// can do that and the file is still the same one (RFC 9110, sections 13.1.5 and 14), starts anew when not, and
/// tries again after a broken connection.
struct HTTPFetch {
    let address: String
    /// The name that errors give the source.
    let name: String
    var bearerToken: String?
    /// The length that the file must have, where it is known.
    var expectedLength: Int64?
    /// Whether bytes of an earlier fetch may only be continued when the server can say that the file is the same one:
    /// where no hash is known, nothing would show that two files were mixed.
    var needsValidator = false
    var patience = FetchPatience()

    struct Progress {
        var received: Int64
        var total: Int64?
    }

    /// What the server said about the file.
    struct Outcome {
        /// The sha256 that a hub gives for the file, if any.
        var digest: String?
    }

    /// - Parameter onProgress: Called several times a second; an error of it ends the fetch.
    func run(
        into file: PartialFile, onProgress: @escaping (Progress) throws(ModelStoreError) -> Void
    ) throws(ModelStoreError) -> Outcome {
        CurlLibrary.start
        var failures = 0
        var furthest = file.length
        while true {
            let transfer = Transfer(fetch: self, file: file, onProgress: onProgress)
            switch try transfer.perform() {
            case .complete: return Outcome(digest: transfer.digest)
            case .restart:
                // Happens at most once in a row: a request from the beginning asks for no range.
                try file.restart()
            case .failed(let error, let pause):
                if file.length >= furthest + patience.progressThatCounts { failures = 0 }
                furthest = max(furthest, file.length)
                failures += 1
                guard failures < patience.attempts else { throw error }
                let backoff = min(30, patience.firstPause * Double(1 << min(failures - 1, 10)))
                try wait(max(backoff, pause ?? 0)) { () throws(ModelStoreError) in
                    try onProgress(Progress(received: file.length, total: expectedLength))
                }
            }
        }
    }

    private func wait(
        _ seconds: Double, _ whileWaiting: () throws(ModelStoreError) -> Void
    ) throws(ModelStoreError) {
        let end = Date().addingTimeInterval(seconds)
        while Date() < end {
            try whileWaiting()
            usleep(UInt32(min(100_000, max(1_000, end.timeIntervalSinceNow * 1_000_000))))
        }
    }

    var host: String { URL(string: address)?.host ?? address }
}

private enum CurlLibrary {
    /// Initialises libcurl once in the process.
    static let start: Void = { curl_global_init(Int(CURL_GLOBAL_DEFAULT)) }()
}

/// One request and its answer.
private final class Transfer {
    enum Result {
        case complete
        /// The bytes that are there do not belong to the file that the server has.
        case restart
        /// Broken, but worth another try, after at least `pause` seconds.
        case failed(ModelStoreError, pause: Double?)
    }

    private static let mostRedirections = 10

    private let fetch: HTTPFetch
    private let file: PartialFile
    private let onProgress: (HTTPFetch.Progress) throws(ModelStoreError) -> Void
    private let startLength: Int64
    private var headers = ResponseHeaders()
    /// Set when the head of the final answer has been judged.
    private var judged = false
    private var failure: ModelStoreError?
    private var mustRestart = false
    private(set) var digest: String?

    init(
        fetch: HTTPFetch, file: PartialFile,
        onProgress: @escaping (HTTPFetch.Progress) throws(ModelStoreError) -> Void
    ) {
        self.fetch = fetch
        self.file = file
        self.onProgress = onProgress
        startLength = file.length
    }

    func perform() throws(ModelStoreError) -> Result {
        guard let handle = curl_easy_init() else {
            throw .network(host: fetch.host, reason: "libcurl cannot start")
        }
        defer { curl_easy_cleanup(handle) }
        let list = try configure(handle)
        defer { curl_slist_free_all(list) }
        var message = [CChar](repeating: 0, count: Int(CURL_ERROR_SIZE))
        let code = message.withUnsafeMutableBufferPointer { buffer in
            _ = clibcurl_set_pointer(handle, CURLOPT_ERRORBUFFER, buffer.baseAddress)
            return curl_easy_perform(handle)
        }
        if let failure { throw failure }
        if mustRestart { return .restart }
        var status = 0
        _ = clibcurl_get_long(handle, CURLINFO_RESPONSE_CODE, &status)
        let text = message.first == 0 ? String(cString: curl_easy_strerror(code)) : string(message)
        return try outcome(code, status: status, message: text)
    }

    private func string(_ message: [CChar]) -> String {
        String(decoding: message.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private func configure(_ handle: UnsafeMutableRawPointer) throws(ModelStoreError) -> UnsafeMutablePointer<
        curl_slist
    >? {
        let context = Unmanaged.passUnretained(self).toOpaque()
        _ = clibcurl_set_string(handle, CURLOPT_URL, fetch.address)
        _ = clibcurl_set_string(handle, CURLOPT_USERAGENT, "foundationmodels")
        // A file of this machine, or of another protocol, must not be reachable through a redirection, nor may one
        // lead from an encrypted connection to a plain one.
        let isSecure = fetch.address.lowercased().hasPrefix("https:")
        _ = clibcurl_set_string(handle, CURLOPT_PROTOCOLS_STR, "http,https")
        _ = clibcurl_set_string(handle, CURLOPT_REDIR_PROTOCOLS_STR, isSecure ? "https" : "http,https")
        _ = clibcurl_set_long(handle, CURLOPT_FOLLOWLOCATION, 1)
        _ = clibcurl_set_long(handle, CURLOPT_MAXREDIRS, Self.mostRedirections)
        _ = clibcurl_set_long(handle, CURLOPT_NOSIGNAL, 1)
        _ = clibcurl_set_long(handle, CURLOPT_CONNECTTIMEOUT, fetch.patience.connect)
        _ = clibcurl_set_long(handle, CURLOPT_LOW_SPEED_LIMIT, fetch.patience.slowestRate)
        _ = clibcurl_set_long(handle, CURLOPT_LOW_SPEED_TIME, fetch.patience.slowSeconds)
        _ = clibcurl_set_long(handle, CURLOPT_TCP_KEEPALIVE, 1)
        let environment = ProcessInfo.processInfo.environment
        if let bundle = environment["CURL_CA_BUNDLE"] ?? environment["SSL_CERT_FILE"], !bundle.isEmpty {
            _ = clibcurl_set_string(handle, CURLOPT_CAINFO, bundle)
        }

        var lines = ["Accept-Encoding: identity"]
        if startLength > 0, file.journal.validator != nil || !fetch.needsValidator {
            lines.append("Range: bytes=\(startLength)-")
            if let validator = file.journal.validator { lines.append("If-Range: \(validator)") }
        }
        // libcurl keeps this header from other hosts that a redirection leads to.
        if let token = fetch.bearerToken { lines.append("Authorization: Bearer \(token)") }
        var list: UnsafeMutablePointer<curl_slist>?
        for line in lines { list = curl_slist_append(list, line) }
        _ = clibcurl_set_pointer(handle, CURLOPT_HTTPHEADER, list)

        _ = clibcurl_set_write_function(handle, CURLOPT_HEADERFUNCTION) { bytes, size, count, context in
            guard let bytes, let context else { return 0 }
            let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
            transfer.headers.take(UnsafeRawBufferPointer(start: bytes, count: size * count))
            return size * count
        }
        _ = clibcurl_set_pointer(handle, CURLOPT_HEADERDATA, context)
        _ = clibcurl_set_write_function(handle, CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
            guard let bytes, let context else { return 0 }
            let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
            return transfer.take(UnsafeRawBufferPointer(start: bytes, count: size * count)) ? size * count : 0
        }
        _ = clibcurl_set_pointer(handle, CURLOPT_WRITEDATA, context)
        _ = clibcurl_set_long(handle, CURLOPT_NOPROGRESS, 0)
        _ = clibcurl_set_progress_function(handle) { context, _, _, _, _ in
            guard let context else { return 1 }
            return Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue().report() ? 0 : 1
        }
        _ = clibcurl_set_pointer(handle, CURLOPT_XFERINFODATA, context)
        return list
    }

    /// The length of the whole file as the server gives it.
    private var total: Int64? {
        headers.status == 206 ? headers.range?.total : headers.contentLength
    }

    private func report() -> Bool {
        guard failure == nil, !mustRestart else { return false }
        do throws(ModelStoreError) {
            try onProgress(HTTPFetch.Progress(received: file.length, total: fetch.expectedLength ?? total))
        } catch {
            failure = error
            return false
        }
        return true
    }

    /// Takes a piece of a body; false ends the transfer.
    private func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
        do throws(ModelStoreError) {
            if !judged {
                judged = true
                try judge()
            }
            guard !mustRestart else { return false }
            // The body of an error page is not part of the file.
            guard headers.status == 200 || headers.status == 206 else { return true }
            if let expected = fetch.expectedLength, file.length + Int64(bytes.count) > expected {
                throw .wrongLength(
                    source: fetch.name, expected: expected, actual: total ?? file.length + Int64(bytes.count))
            }
            try file.append(bytes)
        } catch {
            failure = error
        }
        return failure == nil
    }

    /// Looks at the head of an answer before its first byte is kept.
    private func judge() throws(ModelStoreError) {
        digest = headers.linkedDigest
        switch headers.status {
        case 200:
            // The server has no ranges, or the file has changed: this is the whole of it.
            if file.length > 0 { try file.restart() }
        case 206:
            guard let range = headers.range, range.start == file.length else {
                // Without bytes to go on from no part was asked for, and asking anew would bring the same.
                guard startLength > 0 else {
                    throw .badAnswer(source: fetch.name, reason: "it is a part of the file that was not asked for")
                }
                mustRestart = true
                return
            }
        default: return
        }
        if let total, let expected = fetch.expectedLength, total != expected {
            throw .wrongLength(source: fetch.name, expected: expected, actual: total)
        }
        try file.setValidator(headers.validator)
    }

    private func outcome(_ code: CURLcode, status: Int, message: String) throws(ModelStoreError) -> Result {
        switch code {
        case CURLE_OK:
            return try answered(status)
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_CONNECT, CURLE_COULDNT_RESOLVE_PROXY:
            return .failed(.network(host: fetch.host, reason: message), pause: nil)
        case CURLE_SSL_CONNECT_ERROR:
            throw .badAnswer(source: fetch.name, reason: "no encrypted connection can be made (\(message))")
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE:
            throw .badAnswer(
                source: fetch.name,
                reason: "the certificate cannot be verified (\(message)); CURL_CA_BUNDLE names other authorities")
        case CURLE_TOO_MANY_REDIRECTS:
            throw .badAnswer(
                source: fetch.name, reason: "it redirects more than \(Self.mostRedirections) times, perhaps in a circle"
            )
        case CURLE_UNSUPPORTED_PROTOCOL where (300..<400).contains(headers.status):
            throw .badAnswer(
                source: fetch.name, reason: "it redirects to an address that is not followed (\(message))")
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY:
            throw .badAnswer(source: fetch.name, reason: "it is not what an HTTP server says (\(message))")
        case CURLE_URL_MALFORMAT:
            throw .badAnswer(
                source: fetch.name, reason: "its address, or one it redirects to, is malformed (\(message))")
        case CURLE_OUT_OF_MEMORY:
            throw .network(host: fetch.host, reason: message)
        case CURLE_OPERATION_TIMEDOUT where file.length == startLength && headers.status == 0:
            return .failed(.network(host: fetch.host, reason: message), pause: nil)
        case CURLE_OPERATION_TIMEDOUT:
            let reason = "less than \(fetch.patience.slowestRate) bytes a second came"
            return .failed(.stalled(source: fetch.name, received: file.length, reason: reason), pause: nil)
        default:
            return .failed(.stalled(source: fetch.name, received: file.length, reason: message), pause: nil)
        }
    }

    private func answered(_ status: Int) throws(ModelStoreError) -> Result {
        switch status {
        case 200, 206:
            // An answer without a body was not judged yet.
            if !judged {
                try judge()
                if mustRestart { return .restart }
            }
            // Where the server gave no length, the end of the body says nothing about the file being whole.
            if let expected = fetch.expectedLength ?? total, file.length != expected {
                throw .wrongLength(source: fetch.name, expected: expected, actual: file.length)
            }
            return .complete
        case 416:
            // Nothing is left to send: all is there, or more than all.
            digest = headers.linkedDigest
            if startLength > 0, headers.range?.total == startLength,
                fetch.expectedLength == nil || fetch.expectedLength == startLength
            {
                return .complete
            }
            if startLength == 0 { throw .httpStatus(source: fetch.name, status: status) }
            return .restart
        case 401, 403: throw .accessDenied(source: fetch.name, status: status)
        case 404, 410: throw .notFound(source: fetch.name)
        case 408, 429, 500, 502, 503, 504:
            return .failed(.httpStatus(source: fetch.name, status: status), pause: headers.retryAfter)
        default: throw .httpStatus(source: fetch.name, status: status)
        }
    }
}

/// What the fetch needs of the header lines of an answer (and of the redirections before it).
private struct ResponseHeaders {
    var status = 0
    var contentLength: Int64?
    var range: (start: Int64?, total: Int64?)?
    var validator: String?
    var retryAfter: Double?
    /// The sha256 that a hub names in the redirection to where it keeps the file.
    var linkedDigest: String?

    mutating func take(_ bytes: UnsafeRawBufferPointer) {
        let line = String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        if line.hasPrefix("HTTP/") {
            // The head of the next answer begins; what a redirection said about the file's hash stays.
            let digest = linkedDigest
            self = ResponseHeaders()
            linkedDigest = digest
            let fields = line.split(separator: " ")
            if fields.count > 1 { status = Int(fields[1]) ?? 0 }
            return
        }
        guard let colon = line.firstIndex(of: ":") else { return }
        let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
        switch line[..<colon].lowercased() {
        case "content-length": contentLength = Self.byteCount(value)
        case "content-range": range = Self.contentRange(value)
        // A weak tag says that two files mean the same, not that their bytes are equal.
        case "etag" where !value.isEmpty && !value.hasPrefix("W/"): validator = value
        case "last-modified" where !value.isEmpty && validator == nil: validator = value
        case "retry-after": retryAfter = Self.byteCount(value).map { Double(min($0, 120)) }
        case "x-linked-etag":
            let digest = value.trimmingCharacters(in: CharacterSet(charactersIn: "\""))
            if SHA256.isDigest(digest) { linkedDigest = digest.lowercased() }
        default: break
        }
    }

    /// A number of a header: decimal digits and nothing else, so that none is negative, and none larger than a file can
    /// be, so that sums of two cannot overflow. Nil for everything else.
    static func byteCount(_ text: some StringProtocol) -> Int64? {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let value = Int64(text), value <= mostBytes else {
            return nil
        }
        return value
    }

    /// An exbibyte.
    private static let mostBytes: Int64 = 1 << 60

    /// Reads `bytes 5-9/10`, `bytes 5-9/*` or `bytes */10`; nil when the numbers are none or contradict each other.
    static func contentRange(_ text: String) -> (start: Int64?, total: Int64?)? {
        guard text.lowercased().hasPrefix("bytes ") else { return nil }
        let halves = text.dropFirst(6).split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count == 2 else { return nil }
        var total: Int64?
        if halves[1] != "*" {
            guard let count = byteCount(halves[1]) else { return nil }
            total = count
        }
        if halves[0] == "*" { return (nil, total) }
        let ends = halves[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = byteCount(ends[0]), let last = byteCount(ends[1]), first <= last,
            total.map({ last < $0 }) ?? true
        else { return nil }
        return (first, total)
    }
}
