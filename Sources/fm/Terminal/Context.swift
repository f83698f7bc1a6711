import Foundation
import FoundationModels
import Inference

/// What a command sees of the world around it.
package struct Context: Sendable {
    package var environment: [String: String]
    package var output: Output
    package var messages: Output
    /// Makes the model; nothing is loaded before it is used.
    package var makeModel: @Sendable (ChosenModel) -> any LanguageModel

    package init(
        environment: [String: String], output: Output, messages: Output,
        makeModel: @escaping @Sendable (ChosenModel) -> any LanguageModel
    ) {
        self.environment = environment
        self.output = output
        self.messages = messages
        self.makeModel = makeModel
    }

    package static func standard() -> Context {
        let environment = ProcessInfo.processInfo.environment
        return Context(
            environment: environment, output: Output(descriptor: STDOUT_FILENO, environment: environment),
            messages: Output(descriptor: STDERR_FILENO, environment: environment),
            makeModel: models(environment))
    }

    /// The models themselves, as an environment describes them.
    package static func models(_ environment: [String: String]) -> @Sendable (ChosenModel) -> any LanguageModel {
        { model in
            switch model {
            case .file(let file): SystemLanguageModel(file: file.url)
            case .privateCloud: PrivateCloudComputeLanguageModel(environment: environment)
            }
        }
    }
}

extension Context {
    /// A new session with a model.
    func makeSession(
        _ model: ChosenModel, tools: [any Tool] = [], instructions: String?
    ) -> LanguageModelSession {
        func open(_ model: some LanguageModel) -> LanguageModelSession {
            LanguageModelSession(model: model, tools: tools, instructions: instructions)
        }
        return open(makeModel(model))
    }

    /// A session that goes on from a transcript.
    func makeSession(
        _ model: ChosenModel, tools: [any Tool] = [], transcript: Transcript
    ) -> LanguageModelSession {
        func open(_ model: some LanguageModel) -> LanguageModelSession {
            LanguageModelSession(model: model, tools: tools, transcript: transcript)
        }
        return open(makeModel(model))
    }
}
