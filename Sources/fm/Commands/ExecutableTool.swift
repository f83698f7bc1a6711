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
        let text = try PromptInput.text(ofFile: descriptionPath)
        let value: JSONValue
        do { value = try JSONValue(parsing: text) } catch { throw Failure(.schema, "\(path).json: \(error)") }
        guard let object = value.objectValue else {
            throw Failure(.schema, "\(path).json: it must be a JSON object, not \(value.kind)")
        }
        let known = ["name", "description", "parameters"]
        if let other = object.keys.first(where: { !known.contains($0) }) {
            throw Failure(.schema, "\(path).json: there is no member \"\(other)\" for a tool; there are \(known)")
        }
        guard let description = object["description"]?.stringValue else {
            throw Failure(.schema, "\(path).json: \"description\" is missing")
        }
        self.description = description
        name =
            object["name"]?.stringValue
            ?? URL(fileURLWithPath: expanded).deletingPathExtension().lastPathComponent
        parameters = try SchemaFile.schema(
            object["parameters"] ?? ["type": "object", "properties": [:]], source: "\(path).json")
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
