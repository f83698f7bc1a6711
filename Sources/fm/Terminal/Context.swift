import Foundation

/// What a command sees of the world around it.
package struct Context: Sendable {
    package var environment: [String: String]
    package var output: Output
    package var messages: Output

    package init(environment: [String: String], output: Output, messages: Output) {
        self.environment = environment
        self.output = output
        self.messages = messages
    }

    package static func standard() -> Context {
        let environment = ProcessInfo.processInfo.environment
        return Context(
            environment: environment, output: Output(descriptor: STDOUT_FILENO, environment: environment),
            messages: Output(descriptor: STDERR_FILENO, environment: environment))
    }
}
