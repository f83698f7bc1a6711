import Inference

extension Failure {
    /// The class and the text of an error.
    package init(_ error: any Error) {
        switch error {
        case let failure as Failure: self = failure
        case let error as UsageError: self.init(.usage, error.message)
        case let error as ModelStoreError: self.init(error.exitCode, error.description)
        case is CancellationError: self.init(.interrupted, "interrupted")
        default: self.init(.failure, "\(error)")
        }
    }
}

extension ModelStoreError {
    package var exitCode: ExitCode {
        switch self {
        case .unknownModel, .invalidReference, .invalidConfiguration: .usage
        case .notInstalled, .unreadableFile, .notAModel: .unavailable
        case .noSpace, .cannotWrite: .storage
        case .network, .stalled, .notFound, .accessDenied, .httpStatus, .wrongLength, .wrongHash, .pipMissing,
            .packageGone, .pipFailed, .damagedPackage:
            .fetch
        case .busy: .failure
        case .cancelled: .interrupted
        }
    }
}
