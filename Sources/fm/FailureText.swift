import Foundation
import FoundationModels
import Inference

extension Failure {
    /// The class and the text of an error.
    package init(_ error: any Error) {
        switch error {
        case let failure as Failure: self = failure
        case let error as UsageError: self.init(.usage, error.message)
        case let error as ModelStoreError: self.init(error.exitCode, error.description)
        case is CancellationError: self.init(.interrupted, "interrupted")
        case let error as LanguageModelError: self.init(error.exitCode, Self.text(error))
        case let error as LanguageModelSession.GenerationError: self.init(error.exitCode, Self.text(error))
        case let error as PrivateCloudComputeLanguageModel.Error: self.init(.unavailable, Self.text(error))
        case let error as SystemLanguageModel.Error: self.init(.unavailable, Self.text(error))
        case let error as SystemLanguageModel.Adapter.AssetError: self.init(.unavailable, Self.text(error))
        case let error as GeneratedContent.ParsingError where error.isUnfinished:
            self.init(.unfinished, Self.text(error))
        case let error as UnfinishedAnswer: self.init(error.underlyingError)
        case let error as LanguageModelSession.ToolCallError
        where (error.underlyingError as? GeneratedContent.ParsingError)?.isUnfinished == true:
            self.init(.unfinished, Self.text(error))
        case let error as GenerationSchema.SchemaError: self.init(.schema, Self.text(error))
        case let error as LanguageModelSession.ToolCallError: self.init(.tool, Self.text(error))
        case let error as any LocalizedError: self.init(.failure, Self.text(error))
        default: self.init(.failure, "\(error)")
        }
    }

    /// What went wrong and, where the error knows it, what to do.
    private static func text(_ error: any LocalizedError) -> String {
        [error.errorDescription ?? "\(error)", error.recoverySuggestion].compactMap(\.self).joined(separator: " ")
            // Where a program would set an option, a command line has one.
            .replacing("llow more response tokens.", with: "llow more response tokens with --max-tokens.")
    }
}

extension LanguageModelError {
    var exitCode: ExitCode {
        switch self {
        case .contextSizeExceeded: .contextOverflow
        case .guardrailViolation, .refusal: .guardrail
        case .unsupportedGenerationGuide: .schema
        case .rateLimited, .unsupportedCapability, .unsupportedTranscriptContent, .unsupportedLanguageOrLocale,
            .timeout:
            .failure
        }
    }
}

extension LanguageModelSession.GenerationError {
    var exitCode: ExitCode {
        switch self {
        case .exceededContextWindowSize: .contextOverflow
        case .guardrailViolation, .refusal: .guardrail
        case .assetsUnavailable: .unavailable
        case .unsupportedGuide: .schema
        case .unsupportedLanguageOrLocale, .decodingFailure, .rateLimited, .concurrentRequests: .failure
        }
    }
}

extension ModelStoreError {
    package var exitCode: ExitCode {
        switch self {
        // What is named and is not there, by a name or by a path, on the command line or in a variable.
        case .unknownModel, .noSuchFile, .invalidReference, .invalidConfiguration, .invalidVariable: .usage
        case .wrongDefault(_, let error): error.exitCode
        case .notInstalled, .unreadableFile, .notAModel: .unavailable
        case .noSpace, .cannotWrite: .storage
        case .network, .stalled, .notFound, .accessDenied, .httpStatus, .badAnswer, .wrongLength, .wrongHash,
            .unusableFile, .pipMissing, .packageGone, .pipFailed, .damagedPackage, .damagedArchive:
            .fetch
        case .busy: .failure
        case .cancelled: .interrupted
        }
    }
}
