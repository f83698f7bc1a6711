import Foundation
import FoundationModels
import Inference
import JSON

extension Command.Option {
    static let transcript = Command.Option(
        "--transcript", value: "FILE",
        help: "Go on with the conversation of a file when it is there, and write each turn to it.")
}

/// A file for a conversation, as JSON, to which no other `fm` writes until this value is let go.
///
/// The file itself is locked, so that no lock is left behind; the one that takes its place is locked before it does.
package final class TranscriptFile {
    private let name: String
    /// Behind symbolic links.
    private let path: String
    private let isNew: Bool
    private var lock: FileLock
    /// What the file held, and what of that is known here: the rest is written again as it was.
    private var original: (whole: JSONValue, known: JSONValue)?

    /// - Throws: A failure when the file could not be written, so that no answer is computed that is then lost.
    package init(_ name: String) throws {
        self.name = name
        let expanded = (name as NSString).expandingTildeInPath
        var status = stat()
        isNew = stat(expanded, &status) != 0
        let kind = status.st_mode & S_IFMT
        guard isNew || kind == S_IFREG else {
            throw Self.cannotWrite(name, kind == S_IFDIR ? "it is a folder" : "it is no regular file")
        }
        lock = try Self.lock(expanded, name)
        path =
            realpath(expanded, nil).map { resolved in
                defer { free(resolved) }
                return String(cString: resolved)
            } ?? expanded
        // It is replaced, which takes the right to write into its folder.
        let folder = (path as NSString).deletingLastPathComponent
        guard access(folder, W_OK | X_OK) == 0 else {
            throw Self.cannotWrite(name, "the folder '\(folder)': \(String(cString: strerror(errno)))")
        }
    }

    private static func lock(_ path: String, _ name: String) throws -> FileLock {
        do throws(ModelStoreError) {
            if let lock = try FileLock.tryAcquire(path) { return lock }
        } catch .cannotWrite(_, let reason) {
            throw cannotWrite(name, reason)
        }
        throw cannotWrite(name, "another fm keeps its conversation in it")
    }

    deinit {
        var status = stat()
        // Nothing is left of what never came to a turn.
        if isNew, fstat(lock.descriptor, &status) == 0, status.st_size == 0 { unlink(path) }
    }

    /// Whether a name means this file.
    func isFile(_ other: String) -> Bool {
        var (own, named) = (stat(), stat())
        return fstat(lock.descriptor, &own) == 0 && stat((other as NSString).expandingTildeInPath, &named) == 0
            && own.st_ino == named.st_ino && own.st_dev == named.st_dev
    }

    private static func cannotWrite(_ name: String, _ reason: String) -> Failure {
        Failure(.storage, "cannot write '\(name)': \(reason)")
    }

    // MARK: Reading

    /// The conversation of a file.
    static func read(_ name: String) throws -> Transcript { try read(name).transcript }

    private static func read(_ name: String) throws -> (transcript: Transcript, document: JSONValue) {
        let text = try PromptInput.text(ofFile: (name as NSString).expandingTildeInPath)
        do {
            let document = try JSONValue(parsing: text)
            return (try JSONDecoder().decode(Transcript.self, from: Data(text.utf8)), document)
        } catch {
            throw Failure(.usage, "'\(name)' is no saved conversation: \(explanation(error))")
        }
    }

    /// Nil when it is new or empty.
    package func read() throws -> Transcript? {
        var status = stat()
        guard fstat(lock.descriptor, &status) == 0, status.st_size > 0 else { return nil }
        let (transcript, document) = try Self.read(name)
        original = (document, try Self.json(transcript))
        return transcript
    }

    /// What was expected, and where.
    private static func explanation(_ error: any Error) -> String {
        guard let error = error as? DecodingError else { return "\(error)" }
        func text(_ context: DecodingError.Context, _ key: (any CodingKey)? = nil, _ what: String) -> String {
            let keys = context.codingPath + (key.map { [$0] } ?? [])
            let path = keys.reduce("") {
                $0 + ($1.intValue.map { "[\($0)]" } ?? ($0.isEmpty ? "" : ".") + $1.stringValue)
            }
            return path.isEmpty ? "it \(what)" : "\(path) \(what)"
        }
        func noun(_ type: Any.Type) -> String {
            switch type {
            case is String.Type: "a text"
            case is Bool.Type: "true or false"
            case is any BinaryInteger.Type: "a whole number"
            case is any BinaryFloatingPoint.Type: "a number"
            case is any Collection.Type where !(type is any ExpressibleByDictionaryLiteral.Type): "a list"
            default: "an object"
            }
        }
        switch error {
        case .keyNotFound(let key, let context): return text(context, key, "is missing")
        case .valueNotFound(let type, let context), .typeMismatch(let type, let context):
            return text(context, nil, "must be \(noun(type))")
        case .dataCorrupted(let context):
            // The framework's own words tell what is wrong; those of Foundation do not.
            let expected = [
                ("Base64", "must be Base64"), ("URL", "must be a URL"),
                ("valid JSON", "has a number that does not fit its place"),
            ]
            let foreign = expected.first { context.debugDescription.contains($0.0) }?.1
            return text(context, nil, foreign ?? "is wrong: \(context.debugDescription)")
        @unknown default: return "\(error)"
        }
    }

    // MARK: Writing

    private static func json(_ transcript: Transcript) throws -> JSONValue {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try JSONValue(parsing: Array(try encoder.encode(transcript)))
    }

    package func write(_ transcript: Transcript) throws {
        var document = try Self.json(transcript)
        if let original { document = document.keepingUnknown(of: original.whole, known: original.known) }
        var replacement: FileLock?
        do throws(ModelStoreError) {
            try AtomicFile.write(document.text(indent: 2) + "\n", to: path) { descriptor in
                var status = stat()
                if fstat(lock.descriptor, &status) == 0 {
                    // For another owner's file only the superuser can.
                    _ = fchown(descriptor, status.st_uid, status.st_gid)
                    fchmod(descriptor, status.st_mode & 0o7777)
                }
                let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
                if copy >= 0, flock(copy, LOCK_EX | LOCK_NB) == 0 {
                    replacement = FileLock(descriptor: copy, path: path)
                }
            }
        } catch .cannotWrite(_, let reason) {
            throw Self.cannotWrite(name, reason)
        }
        if let replacement { lock = replacement }
    }
}

extension JSONValue {
    /// This value with the members of an older one that is not known whole: lists are compared by the `id` of their objects.
    ///
    /// - Parameter known: As much of the older one as is known.
    fileprivate func keepingUnknown(of whole: JSONValue, known: JSONValue) -> JSONValue {
        switch (self, whole, known) {
        case (.object(var object), .object(let whole), .object(let known)):
            for (key, value) in whole {
                if let part = known[key] {
                    object[key] = object[key]?.keepingUnknown(of: value, known: part)
                } else {
                    object[key] = value
                }
            }
            return .object(object)
        case (.array(let elements), .array(let whole), .array(let known)) where whole.count == known.count:
            return .array(
                elements.map { element in
                    guard let id = element["id"], let index = whole.firstIndex(where: { $0["id"] == id }) else {
                        return element
                    }
                    return element.keepingUnknown(of: whole[index], known: known[index])
                })
        default: return self
        }
    }
}
