import Foundation

/// A lock between processes on one file, held until the value is let go (flock(2): a process that dies lets go too).
///
/// Only who has the lock may remove its file. Whoever then gets a lock on the file that was removed notices it and tries
/// the one that has the name now.
package final class FileLock: Sendable {
    package let descriptor: CInt
    private let path: String

    /// - Parameter descriptor: It is locked, and closed with this value.
    package init(descriptor: CInt, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    deinit { close(descriptor) }

    /// The lock, or nil while another process has it.
    package static func tryAcquire(_ path: String) throws(ModelStoreError) -> FileLock? {
        while true {
            guard let lock = try lockFile(path) else { return nil }
            if lock.isInPlace { return lock }
        }
    }

    /// Removes the file, which nothing needs when no fetch is to go on.
    func removeFile() { unlink(path) }

    /// Whether the locked file still has the name.
    private var isInPlace: Bool {
        var (own, named) = (stat(), stat())
        return fstat(descriptor, &own) == 0 && stat(path, &named) == 0 && own.st_ino == named.st_ino
            && own.st_dev == named.st_dev
    }

    private static func lockFile(_ path: String) throws(ModelStoreError) -> FileLock? {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw .system(writing: path) }
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            switch errno {
            case EINTR: continue
            case EWOULDBLOCK:
                close(descriptor)
                return nil
            default:
                let error = ModelStoreError.system(writing: path)
                close(descriptor)
                throw error
            }
        }
        return FileLock(descriptor: descriptor, path: path)
    }

    /// Waits for the lock, calling `whileWaiting` several times a second; an error of it ends the wait.
    static func acquire(
        _ path: String, whileWaiting: () throws(ModelStoreError) -> Void
    ) throws(ModelStoreError) -> FileLock {
        while true {
            if let lock = try tryAcquire(path) { return lock }
            try whileWaiting()
            usleep(100_000)
        }
    }
}

extension ModelStoreError {
    /// The error of `errno` after a failed write, rename or creation at `path`.
    static func system(writing path: String, code: CInt = errno) -> ModelStoreError {
        switch code {
        case ENOSPC, EDQUOT:
            let directory = (path as NSString).deletingLastPathComponent
            return .noSpace(directory: directory, needed: nil, available: DiskSpace.available(at: directory))
        // The limit on the size of one file (RLIMIT_FSIZE), which is no full disk but is helped the same way.
        case EFBIG: return .cannotWrite(path: path, reason: "files may not grow that large here (see 'ulimit -f')")
        default: return .cannotWrite(path: path, reason: String(cString: strerror(code)))
        }
    }

    static func system(reading path: String, code: CInt = errno) -> ModelStoreError {
        code == ENOENT ? .noSuchFile(path) : .unreadableFile(path: path, reason: String(cString: strerror(code)))
    }
}

enum Folder {
    /// Makes a folder, and the ones around it that are missing.
    static func create(_ path: String) throws(ModelStoreError) {
        if mkdir(path, 0o777) == 0 { return }
        if errno == ENOENT {
            let parent = (path as NSString).deletingLastPathComponent
            guard !parent.isEmpty, parent != path else { throw .system(writing: path, code: ENOENT) }
            try create(parent)
            if mkdir(path, 0o777) == 0 { return }
        }
        let code = errno
        var isFolder: ObjCBool = false
        guard code == EEXIST, FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            throw .system(writing: path, code: code)
        }
        guard isFolder.boolValue else { throw .system(writing: path, code: ENOTDIR) }
    }
}

enum DiskSpace {
    /// Bytes that this user may still write at a folder, or nil when the system does not say.
    static func available(at directory: String) -> Int64? {
        var status = statvfs()
        guard statvfs(directory, &status) == 0 else { return nil }
        let (bytes, overflow) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
        return overflow ? .max : Int64(clamping: bytes)
    }
}
