import Foundation
import FoundationModels
import Inference

extension Command.Option {
    static let transcript = Command.Option(
        "--transcript", value: "FILE",
        help: "Go on with the conversation of a file when it is there, and write the conversation to it at the end.")
}

/// Conversations in files, as JSON.
enum TranscriptFile {
    static func read(_ path: String) throws -> Transcript {
        let text = try PromptInput.text(ofFile: (path as NSString).expandingTildeInPath)
        do { return try JSONDecoder().decode(Transcript.self, from: Data(text.utf8)) } catch {
            throw Failure(.usage, "'\(path)' is no saved conversation: \(explanation(error))")
        }
    }

    /// Nil when there is no such file.
    static func readIfPresent(_ path: String) throws -> Transcript? {
        let expanded = (path as NSString).expandingTildeInPath
        return FileManager.default.fileExists(atPath: expanded) ? try read(path) : nil
    }

    /// Throws when the conversation could not be written at the end, so that no answer is computed that is then lost.
    static func requireWritable(_ path: String) throws(Failure) {
        let expanded = (path as NSString).expandingTildeInPath
        let folder = (expanded as NSString).deletingLastPathComponent
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: expanded, isDirectory: &isFolder), isFolder.boolValue {
            throw Failure(.storage, "cannot write '\(path)': it is a folder")
        }
        guard access(folder.isEmpty ? "." : folder, W_OK | X_OK) == 0 else {
            throw Failure(.storage, "cannot write '\(path)': \(String(cString: strerror(errno)))")
        }
    }

    static func write(_ transcript: Transcript, to path: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let text = String(decoding: try encoder.encode(transcript), as: UTF8.self)
        do throws(ModelStoreError) {
            try AtomicFile.write(text + "\n", to: (path as NSString).expandingTildeInPath)
        } catch .cannotWrite(let path, let reason) {
            throw Failure(.storage, "cannot write '\(path)': \(reason)")
        }
    }

    private static func explanation(_ error: any Error) -> String {
        switch error {
        case DecodingError.dataCorrupted(let context), DecodingError.keyNotFound(_, let context),
            DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context):
            let path = context.codingPath.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }.joined(separator: ".")
            return path.isEmpty ? context.debugDescription : "\(path): \(context.debugDescription)"
        default: return "\(error)"
        }
    }
}
