import Foundation
import FoundationModels
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
struct ExecutableTool: Tool {
    let name: String
    let description: String
    let parameters: GenerationSchema
    let path: String

    /// Bytes of output above which a call fails: no context holds that much.
    static let outputLimit = 1 << 20
    static let timeLimit = Duration.seconds(60)

    init(_ path: String) throws {
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

    struct CallFailure: LocalizedError {
        let errorDescription: String?
    }

    @concurrent func call(arguments: GeneratedContent) async throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        // What it says on standard error is for people.
        process.standardError = FileHandle.standardError
        let json = arguments.jsonString
        do { try process.run() } catch { throw CallFailure(errorDescription: "\(path) cannot be run: \(error)") }
        let running = RunningProgram(process)
        return try await withTaskCancellationHandler {
            let bytes: [UInt8] = try await withCheckedThrowingContinuation { continuation in
                Thread.detachNewThread {
                    try? input.fileHandleForWriting.write(contentsOf: Data(json.utf8))
                    try? input.fileHandleForWriting.close()
                }
                DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(60)) { running.end(isLate: true) }
                Thread.detachNewThread {
                    var bytes: [UInt8] = []
                    while let piece = try? output.fileHandleForReading.read(upToCount: 1 << 16), !piece.isEmpty {
                        bytes += piece
                        if bytes.count > Self.outputLimit {
                            running.end(isLate: false)
                            break
                        }
                    }
                    process.waitUntilExit()
                    if running.isLate {
                        continuation.resume(
                            throwing: CallFailure(errorDescription: "it did not end within 60 seconds"))
                    } else if bytes.count > Self.outputLimit {
                        continuation.resume(
                            throwing: CallFailure(errorDescription: "it wrote more than \(Self.outputLimit) bytes"))
                    } else if process.terminationReason == .uncaughtSignal {
                        continuation.resume(
                            throwing: CallFailure(
                                errorDescription: "signal \(process.terminationStatus) ended it"))
                    } else if process.terminationStatus != 0 {
                        continuation.resume(
                            throwing: CallFailure(
                                errorDescription: "it ended with the status \(process.terminationStatus)"))
                    } else {
                        continuation.resume(returning: bytes)
                    }
                }
            }
            guard let text = String(validating: bytes, as: UTF8.self) else {
                throw CallFailure(errorDescription: "its output is not UTF-8 text")
            }
            return text.hasSuffix("\n") ? String(text.dropLast()) : text
        } onCancel: {
            running.end(isLate: false)
        }
    }
}

/// Ends a program at most once.
private final class RunningProgram: @unchecked Sendable {  // `process` is only asked to end
    private let process: Process
    private let state = Mutex(false)

    init(_ process: Process) { self.process = process }

    var isLate: Bool { state.withLock { $0 } }

    func end(isLate: Bool) {
        guard process.isRunning else { return }
        state.withLock { $0 = isLate }
        process.terminate()
    }
}
