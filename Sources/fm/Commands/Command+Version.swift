extension Command {
    /// The version of this package, as the change log counts it.
    package static let packageVersion = "0.1.0"

    package static let version = Command(name: "version", summary: "Show the version.") { _, context in
        context.output.line("fm \(packageVersion)")
    }
}
