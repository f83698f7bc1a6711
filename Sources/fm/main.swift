// `fm`: reads the command line, runs the command, turns an error into a text and an exit status.
import Foundation
import FoundationModels

Output.reserveStandardDescriptors()
let context = Context.standard()
// Begins to watch for signals.
_ = Interrupts.shared

do {
    guard let (command, arguments) = try CommandTable.parse(RawArguments.validated()) else {
        context.output.write(CommandTable.helpText)
        exit(ExitCode.success.rawValue)
    }
    if arguments.has(Command.help.name) {
        context.output.write(command.helpText)
    } else {
        if let complaint = SimulatedState.complaint(about: context.environment) { throw UsageError(complaint) }
        try await command.run(arguments, context)
    }
    exit(ExitCode.success.rawValue)
} catch {
    var failure = Failure(error)
    if failure.code == .interrupted, let ending = Interrupts.shared.ending { failure.code = ending }
    // After the end of the terminal nobody reads it.
    if !failure.message.isEmpty, failure.code != .hungUp {
        context.messages.failure(failure.message)
    }
    if failure.code == .usage, error is UsageError {
        context.messages.line("'fm --help' and 'fm COMMAND --help' show what is possible.")
    }
    exit(failure.code.rawValue)
}
