import Foundation
import FoundationModels
import Inference
import JSON
import Synchronization

extension Command.Option {
    static let tool = Command.Option(
        "--tool", "-t", value: "PROGRAM", isRepeatable: true,
        help: "Let the model call a program that PROGRAM.json describes.")
}

/// A program that the model can call: its arguments come as JSON on standard input, and what it writes to standard output goes
/// to the model. Another exit status than 0 is a failure.
///
/// `PROGRAM.json` beside it says what it is: an object with `description`, `parameters` (a JSON Schema) and, where it is not
/// the program's own, `name`.
package struct ExecutableTool: Tool {
    package let name: String
    package let description: String
    package let parameters: GenerationSchema
    let path: String

    /// Bytes of output above which a call fails: no context holds that much.
    package static let outputLimit = 1 << 20
    /// From the start of a call to the end of the program by force.
    package var timeLimit = Duration.seconds(60)

    package init(_ path: String) throws {
        let expanded = (path as NSString).expandingTildeInPath
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: expanded, isDirectory: &isFolder), !isFolder.boolValue else {
            throw UsageError("there is no program '\(path)' for --tool")
        }
        guard FileManager.default.isExecutableFile(atPath: expanded) else {
            throw UsageError("'\(path)' cannot be run: make it executable, or name another program with --tool")
        }
        self.path = URL(fileURLWithPath: expanded).standardizedFileURL.path
        let descriptionPath = expanded + ".json"
        guard FileManager.default.fileExists(atPath: descriptionPath) else {
            throw UsageError(
                "'\(path).json' is missing: it must have \"description\" and \"parameters\", a JSON Schema")
        }
        func failure(_ text: String) -> Failure { Failure(.schema, "\(path).json: \(text)") }
        guard let object = try SchemaFile.json(descriptionPath).objectValue else {
            throw failure("it must be a JSON object")
        }
        let known = ["name", "description", "parameters"]
        if let other = object.keys.first(where: { !known.contains($0) }) {
            throw failure("there is no member \"\(other)\" for a tool; there are \(known.joined(separator: ", "))")
        }
        guard let description = object["description"]?.stringValue, !description.allSatisfy(\.isWhitespace) else {
            throw failure("\"description\" must be a text that tells the model what the tool is for")
        }
        self.description = description
        let fileName = URL(fileURLWithPath: expanded).deletingPathExtension().lastPathComponent
        // As servers take names of tools.
        guard let name = (object["name"] ?? .string(fileName)).stringValue,
            name.wholeMatch(of: /[A-Za-z0-9_.-]{1,64}/) != nil
        else {
            throw failure("\"name\" must have 1 to 64 letters of ASCII, digits, '_', '-' and '.'")
        }
        self.name = name
        let parameters = object["parameters"] ?? ["type": "object", "properties": [:]]
        guard parameters["type"] == "object" else {
            throw failure("\"parameters\" must be a JSON Schema of \"type\": \"object\"")
        }
        self.parameters = try SchemaFile.schema(parameters, source: "\(path).json")
    }

    /// The tools of a command line.
    static func all(_ arguments: Arguments) throws -> [ExecutableTool] {
        let tools = try arguments.values("--tool").map(ExecutableTool.init)
        for (index, tool) in tools.enumerated() where tools[..<index].contains(where: { $0.name == tool.name }) {
            throw UsageError("two tools are named '\(tool.name)'; \"name\" in '\(tool.path).json' gives it another one")
        }
        return tools
    }

    package struct CallFailure: LocalizedError {
        package let errorDescription: String?
    }

    @concurrent package func call(arguments: GeneratedContent) async throws -> String {
        let input = Array(arguments.jsonString.utf8)
        let isCancelled = CancellationFlag()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                Thread.detachNewThread {
                    continuation.resume(with: Result { try run(input, isCancelled: { isCancelled.isSet }) })
                }
            }
        } onCancel: {
            isCancelled.set()
        }
    }

    /// Runs the program on this thread until it has ended; what it leaves in the background is not waited for.
    package func run(_ input: [UInt8], isCancelled: () -> Bool) throws -> String {
        var program = ChildProcess(path, [], environment: ProcessInfo.processInfo.environment)
        program.input = input
        // What it says on standard error is for people.
        program.sharesErrorOutput = true
        var bytes: [UInt8] = []
        let deadline = ContinuousClock.now + timeLimit
        var isLate = false
        let ended = program.run(
            output: { piece in
                bytes += piece
                return bytes.count <= Self.outputLimit
            },
            isWanted: {
                isLate = ContinuousClock.now >= deadline
                return !isLate && !isCancelled()
            })
        func failure(_ text: String) -> CallFailure { CallFailure(errorDescription: text) }
        if isCancelled() { throw CancellationError() }
        if isLate {
            throw failure("it did not end within \(String(format: "%g", timeLimit / .seconds(1))) seconds")
        }
        if bytes.count > Self.outputLimit { throw failure("it wrote more than \(Self.outputLimit) bytes") }
        switch ended.reason {
        case .notStarted(let why): throw failure("\(path) cannot be run: \(why)")
        case .signal(let signal): throw failure("signal \(signal) ended it")
        case .status(let status):
            guard status == 0 else { throw failure("it ended with the status \(status)") }
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw failure("its output is not UTF-8 text")
        }
        return text.hasSuffix("\n") ? String(text.dropLast()) : text
    }
}

private final class CancellationFlag: Sendable {
    private let state = Atomic(false)

    var isSet: Bool { state.load(ordering: .relaxed) }

    func set() { state.store(true, ordering: .relaxed) }
}
