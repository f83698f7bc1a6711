/// The exit statuses of `fm`, one per class of outcome, so that scripts can tell them apart. They are part of the
/// interface: a number is never given another meaning.
package enum ExitCode: Int32, CaseIterable, Sendable {
    case success = 0
    /// Something that has no class of its own.
    case failure = 1
    /// The command line, a variable of the environment or the configuration file is wrong, or names what is not there.
    case usage = 2
    /// The model refused, or a guardrail stopped the request.
    case guardrail = 3
    /// The prompt, or the conversation, does not fit the model's context.
    case contextOverflow = 4
    /// No model can be used: none is here, it is switched off, the machine cannot run one, or the adapter does not fit it.
    case unavailable = 5
    /// A model could not be fetched: network, server, wrong file.
    case fetch = 6
    /// The disk is full or cannot be written.
    case storage = 7
    /// A schema that cannot be read or cannot be enforced.
    case schema = 8
    case tool = 9
    /// A typed answer, or the arguments of a tool, ended too early to be of use.
    case unfinished = 10
    /// A server ended before its requests did.
    case cutOff = 11
    // Stopped by a signal; as shells count, 128 and its number.
    case hungUp = 129
    case interrupted = 130
    case terminated = 143

    package var meaning: String {
        switch self {
        case .success: "success"
        case .failure: "another failure"
        case .usage: "the command line or a variable is wrong"
        case .guardrail: "the model refused, or a guardrail stopped the request"
        case .contextOverflow: "the text does not fit the model's context"
        case .unavailable: "no model can be used, or its adapter cannot"
        case .fetch: "a model could not be fetched"
        case .storage: "the disk is full or cannot be written"
        case .schema: "a schema cannot be read or enforced"
        case .tool: "a tool failed"
        case .unfinished: "a typed answer, or a tool's arguments, were cut off"
        case .cutOff: "fm serve ended before its requests did"
        case .hungUp: "the terminal was closed (SIGHUP)"
        case .interrupted: "interrupted (Ctrl-C)"
        case .terminated: "told to end (SIGTERM)"
        }
    }
}

/// An outcome that ends the program with a text on standard error.
package struct Failure: Error {
    package var code: ExitCode
    package var message: String

    package init(_ code: ExitCode, _ message: String) {
        self.code = code
        self.message = message
    }
}
