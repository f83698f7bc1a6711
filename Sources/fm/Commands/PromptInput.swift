import Foundation
import Inference

extension Command.Option {
    static let file = Command.Option(
        "--file", "-f", value: "PATH", isRepeatable: true, help: "Take the prompt, or more of it, from a file.")
    static let instructions = Command.Option(
        "--instructions", "-i", value: "TEXT", help: "What the model is told before the prompt.")
}

/// The text of a prompt, from the arguments, files and standard input.
package struct PromptInput {
    /// Bytes above which a prompt is refused: no context holds that much, and a mistyped path should not fill the memory.
    static let limit = 64 << 20

    /// The arguments joined by spaces, then the files, with empty lines between; `-` stands for standard input, which is
    /// also read when there is nothing else and it is no terminal.
    package static func read(_ arguments: Arguments) throws -> String {
        var parts: [String] = []
        let words = arguments.operands.filter { $0 != "-" }
        if !words.isEmpty { parts.append(words.joined(separator: " ")) }
        for path in arguments.values("--file") {
            parts.append(try text(read(path: path), from: path))
        }
        let wantsInput = arguments.operands.contains("-")
        if wantsInput || (parts.isEmpty && isatty(STDIN_FILENO) == 0) {
            parts.append(try text(read(descriptor: STDIN_FILENO, name: "standard input"), from: "standard input"))
        }
        let prompt = parts.joined(separator: "\n\n")
        guard !prompt.allSatisfy(\.isWhitespace) else {
            throw UsageError("there is no prompt: give it as arguments, with --file, or on standard input")
        }
        return prompt
    }

    /// The text of a file that is to be parsed, without the byte order mark that some editors put before it.
    ///
    /// - Parameter kind: What a file is that holds no text.
    static func text(ofFile path: String, kind: ExitCode = .usage) throws -> String {
        let bytes = try read(path: path)
        if kind != .usage, String(validating: bytes, as: UTF8.self) == nil {
            throw Failure(kind, "\(path) is not UTF-8 text")
        }
        let text = try text(bytes, from: path)
        return text.unicodeScalars.first == "\u{feff}" ? String(text.unicodeScalars.dropFirst()) : text
    }

    private static func text(_ bytes: [UInt8], from source: String) throws -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw UsageError("\(source) is not UTF-8 text")
        }
        // The line break at the end of a file is none of the prompt's.
        return text.hasSuffix("\n") ? String(text.dropLast()) : text
    }

    private static func read(path: String) throws -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw UsageError("cannot read '\(path)': \(String(cString: strerror(errno)))") }
        defer { close(descriptor) }
        return try read(descriptor: descriptor, name: "'\(path)'")
    }

    private static func read(descriptor: Int32, name: String) throws -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = Foundation.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw UsageError("cannot read \(name): \(String(cString: strerror(errno)))") }
            guard count > 0 else { return bytes }
            bytes += buffer[..<count]
            guard bytes.count <= limit else {
                throw Failure(
                    .contextOverflow, "\(name) is larger than \(ByteText.size(Int64(limit))), more than a model reads")
            }
        }
    }
}
