import CLibcurl
import Foundation

/// One request under way. Used on the client's thread alone once it has been handed over.
final class HTTPTransfer: @unchecked Sendable {
    let handle: UnsafeMutableRawPointer
    private let request: HTTPRequest
    private let continuation: AsyncThrowingStream<HTTPEvent, any Error>.Continuation
    private var headerList: UnsafeMutablePointer<curl_slist>?
    private let message = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    private let body: UnsafeMutableBufferPointer<CChar>
    private var head = HTTPHead(status: 0, headers: [:])
    private var hasSentHead = false
    private var bodySize = 0
    private var failure: HTTPError?
    /// When something came last, or else when the request was made.
    private var lastActivity = ContinuousClock.now

    /// Whether the silence has lasted longer than it may.
    var isSilentTooLong: Bool { ContinuousClock.now - lastActivity > .seconds(request.limits.silenceSeconds) }

    init(
        _ request: HTTPRequest, _ continuation: AsyncThrowingStream<HTTPEvent, any Error>.Continuation
    ) throws(HTTPError) {
        let scheme = request.url.prefix { $0 != ":" }.lowercased()
        guard scheme == "http" || scheme == "https" else {
            throw .invalidRequest("the address \(request.url) is neither http nor https")
        }
        for (name, value) in request.headers {
            // A line break would begin another header, or the body.
            guard !name.isEmpty, !(name + value).utf8.contains(where: { $0 == 10 || $0 == 13 || $0 == 0 }),
                !name.contains(":")
            else {
                throw .invalidRequest("the header \"\(name)\" has a line break, or its name a colon")
            }
        }
        guard let handle = curl_easy_init() else { throw .connection("libcurl cannot start") }
        self.handle = handle
        self.request = request
        self.continuation = continuation
        message.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        body = .allocate(capacity: request.body.count)
        _ = body.initialize(from: request.body.lazy.map { CChar(bitPattern: $0) })
        configure()
    }

    deinit {
        curl_easy_cleanup(handle)
        curl_slist_free_all(headerList)
        message.deallocate()
        body.deallocate()
    }

    private func configure() {
        let limits = request.limits
        _ = clibcurl_set_string(handle, CURLOPT_URL, request.url)
        _ = clibcurl_set_string(handle, CURLOPT_PROTOCOLS_STR, "http,https")
        _ = clibcurl_set_long(handle, CURLOPT_NOSIGNAL, 1)
        _ = clibcurl_set_long(handle, CURLOPT_CONNECTTIMEOUT, limits.connectSeconds)
        _ = clibcurl_set_long(handle, CURLOPT_TIMEOUT, limits.totalSeconds)
        _ = clibcurl_set_long(handle, CURLOPT_TCP_KEEPALIVE, 1)
        _ = clibcurl_set_pointer(handle, CURLOPT_ERRORBUFFER, message)
        // A certificate bundle of one's own, as curl's own program and most others take it.
        let environment = ProcessInfo.processInfo.environment
        if let bundle = environment["CURL_CA_BUNDLE"] ?? environment["SSL_CERT_FILE"], !bundle.isEmpty {
            _ = clibcurl_set_string(handle, CURLOPT_CAINFO, bundle)
        }
        if request.method == "POST" {
            _ = clibcurl_set_long(handle, CURLOPT_POST, 1)
            _ = clibcurl_set_pointer(handle, CURLOPT_POSTFIELDS, body.baseAddress)
            _ = clibcurl_set_long(handle, CURLOPT_POSTFIELDSIZE, body.count)
        } else if request.method != "GET" {
            _ = clibcurl_set_string(handle, CURLOPT_CUSTOMREQUEST, request.method)
        }
        // Without this line libcurl asks for leave before it sends a large body, and waits a second for the answer.
        headerList = curl_slist_append(headerList, "Expect:")
        for (name, value) in request.headers.sorted(by: { $0.key < $1.key }) {
            // An empty value is sent only when the line says so with a semicolon.
            headerList = curl_slist_append(headerList, value.isEmpty ? "\(name);" : "\(name): \(value)")
        }
        _ = clibcurl_set_pointer(handle, CURLOPT_HTTPHEADER, headerList)

        let context = Unmanaged.passUnretained(self).toOpaque()
        _ = clibcurl_set_write_function(handle, CURLOPT_HEADERFUNCTION) { bytes, size, count, context in
            guard let bytes, let context else { return 0 }
            let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
            Unmanaged<HTTPTransfer>.fromOpaque(context).takeUnretainedValue().takeHeader(line)
            return size * count
        }
        _ = clibcurl_set_pointer(handle, CURLOPT_HEADERDATA, context)
        _ = clibcurl_set_write_function(handle, CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
            guard let bytes, let context else { return 0 }
            let piece = UnsafeRawBufferPointer(start: bytes, count: size * count)
            return Unmanaged<HTTPTransfer>.fromOpaque(context).takeUnretainedValue().take(piece) ? size * count : 0
        }
        _ = clibcurl_set_pointer(handle, CURLOPT_WRITEDATA, context)
    }

    private func takeHeader(_ bytes: UnsafeRawBufferPointer) {
        lastActivity = .now
        let line = String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        if line.hasPrefix("HTTP/") {
            // The head of another response begins, such as the one after "100 Continue".
            let fields = line.split(separator: " ")
            head = HTTPHead(status: fields.count > 1 ? Int(fields[1]) ?? 0 : 0, headers: [:])
        } else if line.isEmpty {
            if head.status >= 200 { sendHead() }
        } else if let colon = line.firstIndex(of: ":") {
            head.headers[line[..<colon].lowercased()] =
                line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
        }
    }

    private func sendHead() {
        // Lines after the body are no head.
        guard !hasSentHead else { return }
        hasSentHead = true
        continuation.yield(.head(head))
    }

    /// Takes a piece of the body; false ends the transfer.
    private func take(_ piece: UnsafeRawBufferPointer) -> Bool {
        lastActivity = .now
        sendHead()
        bodySize += piece.count
        guard bodySize <= request.limits.bodySize else {
            failure = .tooLarge(limit: request.limits.bodySize)
            return false
        }
        continuation.yield(.body(Array(piece)))
        return true
    }

    /// Called once, instead of `end`, when the silence has lasted too long.
    func endInSilence() {
        continuation.finish(
            throwing: HTTPError.timeout("nothing came for \(request.limits.silenceSeconds) seconds"))
    }

    /// Called once, when libcurl is done.
    func end(_ code: CURLcode) {
        if let failure { return continuation.finish(throwing: failure) }
        guard code != CURLE_OK else {
            sendHead()
            return continuation.finish()
        }
        let text = message.pointee == 0 ? String(cString: curl_easy_strerror(code)) : String(cString: message)
        let host = URLComponents(string: request.url)?.host ?? request.url
        continuation.finish(throwing: error(code, "\(host): \(text)"))
    }

    private func error(_ code: CURLcode, _ text: String) -> HTTPError {
        switch code {
        case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL: .invalidRequest(text)
        case CURLE_OPERATION_TIMEDOUT: .timeout(text)
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_CONNECT, CURLE_SSL_CONNECT_ERROR,
            CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_OUT_OF_MEMORY:
            .connection(text)
        default: .interrupted(text)
        }
    }
}
