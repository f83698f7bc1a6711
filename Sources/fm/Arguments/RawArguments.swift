import Foundation

/// The words of the command line as the system hands them over.
package enum RawArguments {
    /// The words after the program's name.
    ///
    /// - Throws: A `UsageError` when one is not UTF-8. Swift's own list replaces such bytes, which would change a prompt or name
    ///   another file, silently.
    static func validated() throws -> [String] {
        let words = UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc)).dropFirst()
        return try validated(
            words.map { word in word.map { Array(UnsafeBufferPointer(start: $0, count: strlen($0))) } ?? [] })
    }

    package static func validated(_ words: [[CChar]]) throws -> [String] {
        try words.enumerated().map { index, word in
            guard let text = String(validating: word.map(UInt8.init(bitPattern:)), as: UTF8.self) else {
                throw UsageError(
                    "argument \(index + 1) is not UTF-8 text: \(String(decoding: word.map(UInt8.init(bitPattern:)), as: UTF8.self))"
                )
            }
            return text
        }
    }
}
