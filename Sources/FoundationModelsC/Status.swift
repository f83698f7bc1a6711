import Foundation
import FoundationModels

/// The numbers by which C tells outcomes apart.
enum Status: Int32 {
    case success = 0
    case exceededContextWindowSize = 1
    case assetsUnavailable = 2
    case guardrailViolation = 3
    case unsupportedGuide = 4
    case unsupportedLanguageOrLocale = 5
    case decodingFailure = 6
    case rateLimited = 7
    case concurrentRequests = 8
    case refusal = 9
    case invalidSchema = 10
    case invalidArgument = 11
    case unknownError = 255
}

extension Status {
    init(_ error: any Error) {
        self =
            switch error {
            case let error as LanguageModelError: Status(error)
            case let error as LanguageModelSession.GenerationError: Status(error)
            case is SystemLanguageModel.Error: .assetsUnavailable
            case LanguageModelSession.Error.concurrentRequests: .concurrentRequests
            case is GenerationSchema.SchemaError: .invalidSchema
            case is GeneratedContent.ParsingError: .decodingFailure
            case is InvalidArgument, is LanguageModelSession.ConfigurationError: .invalidArgument
            default: .unknownError
            }
    }

    private init(_ error: LanguageModelError) {
        self =
            switch error {
            case .contextSizeExceeded: .exceededContextWindowSize
            case .rateLimited: .rateLimited
            case .guardrailViolation: .guardrailViolation
            case .refusal: .refusal
            case .unsupportedGenerationGuide: .unsupportedGuide
            case .unsupportedLanguageOrLocale: .unsupportedLanguageOrLocale
            case .unsupportedCapability, .unsupportedTranscriptContent, .timeout: .unknownError
            }
    }

    private init(_ error: LanguageModelSession.GenerationError) {
        self =
            switch error {
            case .exceededContextWindowSize: .exceededContextWindowSize
            case .assetsUnavailable: .assetsUnavailable
            case .guardrailViolation: .guardrailViolation
            case .unsupportedGuide: .unsupportedGuide
            case .unsupportedLanguageOrLocale: .unsupportedLanguageOrLocale
            case .decodingFailure: .decodingFailure
            case .rateLimited: .rateLimited
            case .concurrentRequests: .concurrentRequests
            case .refusal: .refusal
            }
    }
}

/// What went wrong, in a sentence.
func description(of error: any Error) -> String {
    if error is CancellationError { return "The request was cancelled." }
    return (error as? any LocalizedError)?.errorDescription ?? String(describing: error)
}

/// Where C wants to be told of an error.
struct ErrorReport {
    let code: UnsafeMutablePointer<Int32>?
    let description: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?

    /// What `body` gives, or nil when it throws, which is then told.
    func value<Value>(of body: () throws -> Value?) -> Value? {
        code?.pointee = Status.success.rawValue
        description?.pointee = nil
        do {
            return try body()
        } catch {
            code?.pointee = Status(error).rawValue
            description?.pointee = allocated(FoundationModelsC.description(of: error))
            return nil
        }
    }
}
