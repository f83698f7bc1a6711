import Foundation
import JSON

/// A file that is being fetched: it grows under a name of its own, is hashed as it grows, and gets its final name only when
/// it is whole and on the disk. A journal beside it says how far it can be trusted after an interruption.
final class PartialFile {
    /// What an interrupted fetch can go on from.
    struct Journal: Equatable {
        /// Where the bytes come from; a file of another origin is not continued.
        var origin: String
        /// What the server said identifies this version of the file (an entity tag or a date), for `If-Range`.
        var validator: String?
        /// The lengths of the parts that are complete, for sources that come in parts.
        var parts: [Int64] = []
    }

    let path: String
    let journalPath: String
    private let descriptor: CInt
    private var hash = SHA256()
    private(set) var length: Int64 = 0
    private(set) var journal: Journal

    /// Opens the file, keeping what an earlier fetch from the same origin has left.
    ///
    /// - Parameter onProgress: Called with the bytes hashed so far while what is there is read again.
    init(
        path: String, origin: String, onProgress: (Int64) throws(ModelStoreError) -> Void
    ) throws(ModelStoreError) {
        self.path = path
        journalPath = path + ".json"
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw .system(writing: path) }
        let found = Self.readJournal(journalPath)
        if let found, found.origin == origin {
            journal = found
            // Of a source in parts, only whole parts count.
            let trusted = found.parts.isEmpty ? nil : found.parts.reduce(0, +)
            try rehash(upTo: trusted, onProgress: onProgress)
        } else {
            journal = Journal(origin: origin)
            try restart()
        }
    }

    deinit { close(descriptor) }

    private func rehash(upTo limit: Int64?, onProgress: (Int64) throws(ModelStoreError) -> Void) throws(ModelStoreError)
    {
        let size = Int64(lseek(descriptor, 0, SEEK_END))
        if let limit, size < limit {
            // The journal promises more than there is, so nothing is known of what is there.
            journal = Journal(origin: journal.origin)
            return try restart()
        }
        try truncate(to: limit ?? size)
        lseek(descriptor, 0, SEEK_SET)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { buffer.deallocate() }
        while true {
            let count = read(descriptor, buffer.baseAddress, buffer.count)
            if count < 0 {
                if errno == EINTR { continue }
                throw .system(reading: path)
            }
            if count == 0 { break }
            hash.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            length += Int64(count)
            try onProgress(length)
        }
    }

    func append(_ bytes: UnsafeRawBufferPointer) throws(ModelStoreError) {
        var rest = bytes
        while !rest.isEmpty {
            let count = write(descriptor, rest.baseAddress, rest.count)
            if count < 0 {
                if errno == EINTR { continue }
                throw .system(writing: path)
            }
            let written = UnsafeRawBufferPointer(rebasing: rest[..<count])
            hash.update(written)
            length += Int64(count)
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
    }

    /// Forgets everything that has come.
    func restart() throws(ModelStoreError) {
        try truncate(to: 0)
        lseek(descriptor, 0, SEEK_SET)
        hash = SHA256()
        length = 0
        journal.parts = []
        journal.validator = nil
        try writeJournal()
    }

    func setValidator(_ validator: String?) throws(ModelStoreError) {
        guard journal.validator != validator else { return }
        journal.validator = validator
        try writeJournal()
    }

    /// Notes that everything up to here is one more whole part. The bytes are on the disk before the journal says so.
    func completePart() throws(ModelStoreError) {
        guard fsync(descriptor) == 0 else { throw .system(writing: path) }
        journal.parts.append(length - journal.parts.reduce(0, +))
        try writeJournal()
    }

    /// Takes back what has come of a part that is not whole.
    func abandonPart() throws(ModelStoreError) {
        let trusted = journal.parts.reduce(0, +)
        guard trusted < length else { return }
        length = 0
        hash = SHA256()
        try rehash(upTo: trusted) { _ throws(ModelStoreError) in }
    }

    var digest: String { hash.digest() }

    /// Gives the whole file its final name, in one step that also survives a power cut.
    func install(as final: String) throws(ModelStoreError) {
        guard fsync(descriptor) == 0 else { throw .system(writing: path) }
        guard rename(path, final) == 0 else { throw .system(writing: final) }
        unlink(journalPath)
        Self.syncDirectory(of: final)
    }

    /// Removes the file and its journal.
    func discard() {
        unlink(path)
        unlink(journalPath)
    }

    private func truncate(to length: Int64) throws(ModelStoreError) {
        while ftruncate(descriptor, off_t(length)) != 0 {
            guard errno == EINTR else { throw .system(writing: path) }
        }
    }

    private func writeJournal() throws(ModelStoreError) {
        var members: JSONObject = ["origin": .string(journal.origin)]
        if let validator = journal.validator { members["validator"] = .string(validator) }
        members["parts"] = .array(journal.parts.map { .number(JSONNumber(Int($0))) })
        try AtomicFile.write(JSONValue.object(members).text(indent: 2) + "\n", to: journalPath)
    }

    private static func readJournal(_ path: String) -> Journal? {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8),
            let value = try? JSONValue(parsing: text), let origin = value["origin"]?.stringValue
        else { return nil }
        var journal = Journal(origin: origin, validator: value["validator"]?.stringValue)
        var sum = 0
        for part in value["parts"]?.arrayValue ?? [] {
            // A length that cannot be one makes the whole journal worthless.
            guard let length = part.numberValue?.intValue, length > 0, length < 1 << 50 else { return nil }
            sum += length
            guard sum < 1 << 50 else { return nil }
            journal.parts.append(Int64(length))
        }
        return journal
    }

    static func syncDirectory(of path: String) {
        let descriptor = open((path as NSString).deletingLastPathComponent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }
}

/// Small files that are there whole or not at all.
package enum AtomicFile {
    /// - Parameter prepare: Called with the whole file before it gets its name.
    package static func write(
        _ text: String, to path: String, prepare: (CInt) -> Void = { _ in }
    ) throws(ModelStoreError) {
        let temporary = "\(path).\(getpid()).new"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw .system(writing: path) }
        var failure: CInt?
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty, failure == nil {
            let count = bytes.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 {
                if errno != EINTR { failure = errno }
            } else {
                bytes = bytes.dropFirst(count)
            }
        }
        if failure == nil, fsync(descriptor) != 0 { failure = errno }
        if failure == nil { prepare(descriptor) }
        close(descriptor)
        if failure == nil, rename(temporary, path) != 0 { failure = errno }
        if let failure {
            unlink(temporary)
            throw .system(writing: path, code: failure)
        }
    }
}
