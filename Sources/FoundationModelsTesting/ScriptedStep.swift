import Foundation
import FoundationModels

/// One thing that a scripted model does.
public struct ScriptedStep: Sendable {
    public typealias Event = LanguageModelExecutorGenerationChannel.Event

    private enum Kind: Sendable {
        case events([Event])
        case work(@Sendable () async throws -> Void)
        case stall
    }

    private let kind: Kind

    /// Sends an event as it is.
    public static func event(_ event: Event) -> ScriptedStep { ScriptedStep(kind: .events([event])) }

    /// Adds text to the response.
    public static func text(_ text: String, tokenCount: Int = 1) -> ScriptedStep {
        event(.response(action: .appendText(text, tokenCount: tokenCount)))
    }

    /// Adds text to the reasoning.
    public static func reasoning(_ text: String, tokenCount: Int = 1) -> ScriptedStep {
        event(.reasoning(action: .appendText(text, tokenCount: tokenCount)))
    }

    /// Calls a tool.
    ///
    /// - Parameters:
    ///   - id: Tells calls apart; one of its own is made when none is given.
    ///   - arguments: JSON text. Several fragments are sent as so many events.
    public static func toolCall(
        _ name: String, id: String = UUID().uuidString, arguments: String..., tokenCount: Int = 1
    ) -> ScriptedStep {
        ScriptedStep(
            kind: .events(
                arguments.map { fragment in
                    .toolCalls(
                        action: .toolCall(
                            id: id, name: name, action: .appendArguments(fragment, tokenCount: tokenCount)))
                }))
    }

    /// Reports the tokens of the call.
    public static func usage(input: Int, cached: Int = 0, output: Int, reasoning: Int = 0) -> ScriptedStep {
        event(
            .response(
                action: .updateUsage(
                    input: .init(totalTokenCount: input, cachedTokenCount: cached),
                    output: .init(totalTokenCount: output, reasoningTokenCount: reasoning))))
    }

    /// Waits. A cancellation ends the wait and the call.
    public static func wait(_ duration: Duration) -> ScriptedStep {
        perform { try await Task.sleep(for: duration) }
    }

    /// Waits until the call is cancelled.
    public static var waitForCancellation: ScriptedStep {
        perform { while true { try await Task.sleep(for: .seconds(3600)) } }
    }

    /// Waits for ever, deaf to cancellation.
    public static var stall: ScriptedStep { ScriptedStep(kind: .stall) }

    /// Runs code of the test's own, such as waiting for something to happen.
    public static func perform(_ work: @escaping @Sendable () async throws -> Void) -> ScriptedStep {
        ScriptedStep(kind: .work(work))
    }

    /// Ends the call with an error.
    public static func fail(_ error: any Error) -> ScriptedStep {
        perform { throw error }
    }

    func perform(into channel: LanguageModelExecutorGenerationChannel) async throws {
        switch kind {
        case .events(let events):
            for event in events { await channel.send(event) }
        case .work(let work):
            try await work()
        case .stall:
            // Nobody ever resumes this.
            await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
        }
    }
}
