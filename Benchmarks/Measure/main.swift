/// Prints what one figure needs from inside the rooms: `measure NAME [ARGUMENT ...]`.
import Foundation

let arguments = Array(CommandLine.arguments.dropFirst())
guard let name = arguments.first, let measurement = measurements[name] else {
    FileHandle.standardError.write(
        Data("usage: measure NAME [ARGUMENT ...]\nnames: \(measurements.keys.sorted())\n".utf8))
    exit(2)
}
do {
    try usages[name].map { Usage(name, $0) }?.check(Array(arguments.dropFirst()))
    try await measurement(Array(arguments.dropFirst()))
} catch {
    FileHandle.standardError.write(Data("measure: \(error)\n".utf8))
    exit(1)
}
