import FoundationModels
import FoundationModelsTesting
import Synchronization

struct Fault: Error, Equatable {
    var name = "fault"
}

/// A tool that answers with what a closure makes of its text.
struct EchoTool: Tool {
    var name = "echo"
    let description = "Says a text again."
    var includesSchemaInInstructions = true
    var action: @Sendable (String) async throws -> String = { "echo: \($0)" }

    @Generable
    struct Arguments {
        var text: String
    }

    func call(arguments: Arguments) async throws -> String { try await action(arguments.text) }
}

@Generable
struct Recipe: Equatable {
    var name: String
    var steps: [String]
    var minutes: Int
}

/// A value that several tasks write.
final class Recorder<Value: Sendable>: Sendable {
    private let storage: Mutex<Value>

    init(_ value: Value) { storage = Mutex(value) }

    var value: Value { storage.withLock { $0 } }

    func change(_ change: @Sendable (inout Value) -> Void) { storage.withLock { change(&$0) } }
}

extension Recorder where Value: RangeReplaceableCollection, Value.Element: Sendable {
    func append(_ element: Value.Element) { change { $0.append(element) } }
}

extension Transcript {
    /// The kinds of the entries, in order.
    var kinds: [String] { map(\.kind) }
}

extension Transcript.Entry {
    var kind: String {
        switch self {
        case .instructions: "instructions"
        case .prompt: "prompt"
        case .toolCalls: "toolCalls"
        case .toolOutput: "toolOutput"
        case .response: "response"
        case .reasoning: "reasoning"
        }
    }

    var text: String {
        segments.compactMap(\.text).joined()
    }
}

/// Waits until something holds, for at most a second or the given time.
func eventually(within limit: Duration = .seconds(60), _ condition: @Sendable () -> Bool) async -> Bool {
    let deadline = ContinuousClock.now + limit
    while ContinuousClock.now < deadline {
        if condition() { return true }
        try? await Task.sleep(for: .milliseconds(2))
    }
    return condition()
}
