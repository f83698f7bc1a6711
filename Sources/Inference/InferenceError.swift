import Jinja
import Tokenizers

/// Why a model cannot be loaded or a request cannot be served.
package enum InferenceError: Error, Sendable, CustomStringConvertible {
    // Loading.
    case gguf(GGUFError)
    case tokenizer(TokenizerError)
    case missingMetadata(key: String)
    case invalidMetadata(key: String, reason: String)
    case unsupportedArchitecture(String, supported: [String])
    /// The file has a model for embeddings where one that writes text is wanted.
    case computesEmbeddings(architecture: String)
    /// The other way round.
    case generatesText(architecture: String)
    case missingTensor(String)
    case unexpectedTensor(String)
    case wrongShape(tensor: String, expected: [Int], actual: [Int])
    case unsupportedTensorType(tensor: String, type: String, reason: String)
    case outOfMemory(bytes: Int, purpose: String)
    case invalidOption(name: String, reason: String)

    // Requests.
    case emptyPrompt
    case invalidToken(TokenID, vocabularySize: Int)
    case invalidSampling(parameter: String, value: String, reason: String)
    case invalidMaximumTokens(Int)
    case adapter(AdapterError)
    /// The prompt, or the prompt with what has been generated of the answer, does not fit.
    case contextSizeExceeded(tokenCount: Int, contextSize: Int)
    /// The prompt was not even made into tokens: its length alone says that there are at least so many.
    case promptTooLong(leastTokenCount: Int, contextSize: Int)
    /// The constraint allows no token at all; with a well-formed grammar and a complete vocabulary this cannot be.
    case constraintAllowsNothing(text: String)
    /// The model's numbers overflowed: its weights are damaged.
    case notFinite

    // Chat templates.
    case template(JinjaError)

    package var description: String {
        switch self {
        case .gguf(let error): error.description
        case .tokenizer(let error): error.description
        case .missingMetadata(let key): "the file has no \(key)"
        case .invalidMetadata(let key, let reason): "\(key) is wrong: \(reason)"
        case .unsupportedArchitecture(let name, let supported):
            "the architecture \(name.debugDescription) is not supported; supported are \(supported.joined(separator: ", "))"
        case .computesEmbeddings(let name):
            "this is a model for embeddings (\(name)), which writes no text; name one that does"
        case .generatesText(let name):
            "this model (\(name)) writes text and makes no embeddings; name one that does, such as nomic-embed-text-v1.5"
        case .missingTensor(let name): "the file has no tensor \(name)"
        case .unexpectedTensor(let name):
            "the tensor \(name) is not part of the architecture that the file names, so that its answers would be wrong"
        case .wrongShape(let tensor, let expected, let actual):
            "the tensor \(tensor) has the shape \(actual); \(expected) is expected"
        case .unsupportedTensorType(let tensor, let type, let reason):
            "the tensor \(tensor) has the type \(type): \(reason)"
        case .outOfMemory(let bytes, let purpose): "no memory for \(purpose): \(bytes >> 20) MiB are needed"
        case .invalidOption(let name, let reason): "the option \(name) is wrong: \(reason)"
        case .emptyPrompt: "the prompt has no token"
        case .invalidToken(let token, let size): "the prompt has the token \(token); the vocabulary has \(size)"
        case .invalidSampling(let parameter, let value, let reason): "\(parameter) is \(value): \(reason)"
        case .invalidMaximumTokens(let count): "the maximum number of tokens is \(count); it must be at least 1"
        case .adapter(let error): error.description
        case .contextSizeExceeded(let count, let size):
            "\(count) tokens do not fit the context of \(size) tokens"
        case .promptTooLong(let least, let size):
            "at least \(least) tokens do not fit the context of \(size) tokens"
        case .constraintAllowsNothing(let text):
            "the constraint allows no token after \(text.suffix(80).debugDescription)"
        case .notFinite: "the model computed a value that is not a number: its file is damaged"
        case .template(let error): "the chat template failed: \(error)"
        }
    }
}
