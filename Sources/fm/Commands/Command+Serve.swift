import Foundation
import FoundationModels
import FoundationModelsServer
import Inference
import Synchronization

extension Command {
    package static let serve = Command(
        name: "serve",
        summary: "Answer Chat Completions requests over HTTP.",
        usage: ["[OPTION ...]"],
        options: [
            .model, .adapter,
            Option(
                "--embeddings", value: "NAME|PATH",
                help: "Answer /v1/embeddings with this model, beside the one for text."),
            Option("--host", value: "ADDRESS", help: "Where to listen; 127.0.0.1 unless said otherwise."),
            Option("--port", "-p", value: "NUMBER", help: "The port, 11434 unless said otherwise; 0 for any free one."),
            Option(
                "--token-file", value: "FILE",
                help: "Serve only clients that send one of the tokens of a file, one a line."),
            Option(
                "--allow-host", value: "NAME", isRepeatable: true,
                help: "Take requests for this host name too, beside the loopback's names and --host."),
            Option(
                "--allow-origin", value: "ORIGIN", isRepeatable: true,
                help: "Let the pages of an origin such as http://localhost:3000 use the server; * for all."),
            Option("--parallel", value: "COUNT", help: "Requests that are computed at the same time; 16."),
            Option("--queue", value: "COUNT", help: "Requests that may wait; more are told to come again. 64."),
            Option("--rate", value: "COUNT", help: "Requests that each client may make in a minute."),
            Option(
                "--quota", value: "TOKENS", help: "Tokens of prompts and answers that each client may use in a day."),
            Option("--time-limit", value: "SECONDS", help: "The most that a request may take; 600."),
            Option("--max-body", value: "BYTES", help: "The largest body of a request; 8388608."),
            .context, .cacheType,
            Option("--threads", value: "COUNT", help: "Threads that compute; one for each processor."),
            Option("--log", help: "Tell each request on standard error."),
            .noPull,
        ],
        discussion: """
            Endpoints: /v1/chat/completions, /v1/completions, /v1/embeddings, /v1/models, /tokenize, /health,
            /metrics and a page to chat at /. A model for embeddings may also be the only one, as --model.
            Tokens may also stand in FM_SERVE_TOKEN, separated by spaces; without any, only loopback
            addresses are served. SIGTERM and Ctrl-C let the requests that have begun end within 30 seconds;
            others are told that the server ends, and the exit status is 11. A second signal ends at once.
            """
    ) { arguments, context in
        let settings = try ServeSettings(arguments, context)
        let adapter = try ModelOptions.adapter(arguments)
        let choice = ModelChoice(context: context, arguments: arguments)
        let model = try await choice.find()
        var embeddings: ModelStore.Model?
        if let name = arguments["--embeddings"] { embeddings = try await choice.find(name) }
        try await settings.run(model, adapter: adapter, embeddings: embeddings, context)
    }
}

/// What a command line says about the server.
struct ServeSettings {
    private let host: String
    private let port: Int
    private let tokens: [String]
    private let configuration: ModelServer.Configuration
    private let engineOptions: EngineOptions
    private let limits: HTTPLimits
    private let logs: Bool

    /// Requests that have begun may take this long after the signal to end.
    private static let drainTime = Duration.seconds(30)

    init(_ arguments: Arguments, _ context: Context) throws {
        host = arguments["--host"] ?? "127.0.0.1"
        port = try arguments.integer("--port", in: 0...65535) ?? 11434
        var tokens = (context.environment["FM_SERVE_TOKEN"] ?? "").split(whereSeparator: \.isWhitespace).map(
            String.init)
        if let path = arguments["--token-file"] {
            let lines = try PromptInput.text(ofFile: path).split(whereSeparator: \.isNewline)
            let found = lines.map { $0.trimmingCharacters(in: .whitespaces) }.filter {
                !$0.isEmpty && !$0.hasPrefix("#")
            }
            guard !found.isEmpty else { throw UsageError("there is no token in '\(path)'") }
            tokens += found
        }
        self.tokens = tokens
        var configuration = ModelServer.Configuration(modelName: "")
        var hosts = Set(arguments.values("--allow-host").map { $0.lowercased() })
        hosts.insert(host.contains(":") ? "[\(host)]" : host.lowercased())
        configuration.access = AccessPolicy(
            hosts: hosts, origins: Set(arguments.values("--allow-origin")), tokens: tokens)
        configuration.allowance = .init(
            requestsPerMinute: try arguments.integer("--rate", in: 1...Int.max),
            tokensPerDay: try arguments.integer("--quota", in: 1...Int.max))
        configuration.concurrentRequests = try arguments.integer("--parallel", in: 1...64) ?? 16
        configuration.queuedRequests = try arguments.integer("--queue", in: 0...100_000) ?? 64
        configuration.timeLimit = .seconds(try arguments.integer("--time-limit", in: 1...86_400) ?? 600)
        self.configuration = configuration
        engineOptions = EngineOptions(
            threadCount: try arguments.integer("--threads", in: 1...1024),
            contextSize: try arguments.integer("--context", in: 16...Int.max),
            cacheType: try arguments.cacheType(context),
            concurrentRequests: configuration.concurrentRequests)
        var limits = HTTPLimits()
        if let size = try arguments.integer("--max-body", in: 1024...(1 << 30)) { limits.bodySize = size }
        // Those that wait have a connection each, and some more may ask how things are.
        limits.connections = max(256, configuration.concurrentRequests + configuration.queuedRequests + 64)
        self.limits = limits
        logs = arguments.has("--log")
    }

    func run(
        _ model: ModelStore.Model, adapter: AdapterWeights?, embeddings: ModelStore.Model?, _ context: Context
    ) async throws {
        let messages = context.messages
        let socket: ListeningSocket
        do throws(ListeningSocket.Failure) { socket = try ListeningSocket(host: host, port: port) } catch {
            throw Failure(.failure, error.description)
        }
        guard socket.isLoopback || !tokens.isEmpty else {
            throw UsageError(
                "others than this machine can reach \(host): give the tokens of those who may, with --token-file")
        }
        var configuration = configuration
        // Before the weights are read, which takes longer.
        configuration.adapter = try await adapter?.adapter(for: model.url)
        let (engine, embedder) = try await load(model, embeddings: embeddings)
        configuration.modelName = model.name
        var log: (@Sendable (ModelServer.LogEntry) -> Void)?
        if logs {
            log = { entry in
                messages.line(
                    "\(entry.client) \(entry.method) \(entry.path.debugDescription) \(entry.status)"
                        + (entry.wasSent ? "" : " (gone)"))
            }
        }
        let server = ModelServer(engine, configuration, embedder: embedder, log: log)
        Self.allowDescriptors(limits.connections)
        let http = HTTPServer(socket, handler: server, limits: limits)
        server.setConnectionCount { [weak http] in http?.connectionCount ?? 0 }
        let shown = host.contains(":") ? "[\(host)]" : host
        let contextSize = engine?.contextSize ?? embedder?.model.contextSize ?? 0
        messages.line("fm: \(model.name) at http://\(shown):\(socket.port), context \(contextSize) tokens")
        if engine != nil, let embedder {
            messages.line("fm: \(embedder.name) for embeddings, context \(embedder.model.contextSize) tokens")
        }

        await Self.signal()
        if http.busyCount > 0 { messages.line("fm: waiting for \(http.busyCount) requests to end") }
        let left = await server.end(http, within: Self.drainTime)
        if left > 0 {
            throw Failure(.cutOff, "\(left) requests had not ended after \(Int(Self.drainTime / .seconds(1))) seconds")
        }
    }

    /// Raises the process's own limit of open files, within the system's, to what so many connections need.
    private static func allowDescriptors(_ connections: Int) {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        // Three for each connection and two for each answer, and those of files and models.
        let needed = rlim_t(connections * 5 + 256)
        guard limit.rlim_cur < needed else { return }
        limit.rlim_cur = min(needed, limit.rlim_max)
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    /// The model for text and the one for embeddings. A model for embeddings may also stand alone.
    private func load(
        _ model: ModelStore.Model, embeddings: ModelStore.Model?
    ) async throws -> (Engine?, ModelServer.Embedder?) {
        guard embeddings?.name != model.name else {
            throw UsageError("--model and --embeddings both name '\(model.name)'")
        }
        let (options, threadCount) = (engineOptions, engineOptions.threadCount)
        var engine: Engine?
        var embedder: ModelServer.Embedder?
        if let embeddings {
            let loaded = try await Self.load(embeddings.url) { file throws(InferenceError) in
                try EmbeddingModel.load(file, threadCount: threadCount)
            }
            embedder = ModelServer.Embedder(name: embeddings.name, model: loaded)
        }
        do {
            engine = try await Self.load(model.url) { file throws(InferenceError) in
                try Engine.load(file, options: options)
            }
        } catch InferenceError.computesEmbeddings {
            guard embedder == nil else {
                throw UsageError("'\(model.name)' is a model for embeddings too: --model must write text")
            }
            let loaded = try await Self.load(model.url) { file throws(InferenceError) in
                try EmbeddingModel.load(file, threadCount: threadCount)
            }
            embedder = ModelServer.Embedder(name: model.name, model: loaded)
        }
        return (engine, embedder)
    }

    /// Reading the weights blocks.
    private static func load<Loaded: Sendable>(
        _ file: URL, _ load: @escaping @Sendable (URL) throws(InferenceError) -> Loaded
    ) async throws -> Loaded {
        do {
            return try await withCheckedThrowingContinuation { continuation in
                Thread.detachNewThread {
                    continuation.resume(with: Result { try load(file) })
                }
            }
        } catch InferenceError.invalidOption(let name, let reason) {
            throw UsageError("the option \(name) is wrong: \(reason)")
        } catch InferenceError.computesEmbeddings(let architecture) {
            throw InferenceError.computesEmbeddings(architecture: architecture)
        } catch {
            throw Failure(.unavailable, "the model \(file.path) cannot be loaded: \(error)")
        }
    }

    /// Waits for Ctrl-C or SIGTERM; the next one ends the program.
    private static func signal() async {
        await withCheckedContinuation { continuation in
            let waiting = Mutex<CheckedContinuation<Void, Never>?>(continuation)
            _ = Interrupts.shared.exchange { number in
                guard let first = waiting.withLock({ $0.take() }) else { exit(128 + number) }
                first.resume()
            }
        }
    }
}
