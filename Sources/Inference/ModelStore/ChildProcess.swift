import Foundation
import Synchronization

/// A program that runs beside this one until it ends or is no longer wanted.
struct ChildProcess {
    let program: String
    let arguments: [String]
    let environment: [String: String]

    init(_ program: String, _ arguments: [String], environment: [String: String]) {
        self.program = program
        self.arguments = arguments
        self.environment = environment
    }

    struct Ended {
        /// The exit status; 127 when there is no such program, 128 and the signal when one ended it.
        var status: Int32
        var errorOutput: String

        var lastLine: String? {
            errorOutput.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.last { !$0.isEmpty }
        }

        /// The last line that is a complaint of pip's, else the last line.
        var lastErrorLine: String? {
            let lines = errorOutput.split(separator: "\n").map(String.init)
            // A stack trace begins with a complaint that says nothing, and ends with what went wrong.
            return lines.last { $0.hasPrefix("ERROR:") && $0 != "ERROR: Exception:" }.map { String($0.dropFirst(7)) }
                ?? lastLine
        }
    }

    /// Runs the program and waits for its end.
    ///
    /// - Parameters:
    ///   - output: Takes the standard output in pieces; false ends the program.
    ///   - whileRunning: Called several times a second; an error of it ends the program and is thrown on.
    func run(
        output: ((UnsafeRawBufferPointer) -> Bool)? = nil,
        whileRunning: () throws(ModelStoreError) -> Void = { () throws(ModelStoreError) in }
    ) throws(ModelStoreError) -> Ended {
        guard let path = find() else { return Ended(status: 127, errorOutput: "no program '\(program)'") }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.environment = environment
        process.standardInput = FileHandle.nullDevice
        let outputPipe = output.map { _ in Pipe() }
        process.standardOutput = outputPipe ?? FileHandle.nullDevice
        let errorPipe = Pipe()
        process.standardError = errorPipe
        do { try process.run() } catch {
            return Ended(status: 127, errorOutput: "\(error)")
        }
        let errors = ErrorCollector(errorPipe)
        if let output, let outputPipe {
            let descriptor = outputPipe.fileHandleForReading.fileDescriptor
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
            defer { buffer.deallocate() }
            while true {
                let count = read(descriptor, buffer.baseAddress, buffer.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { break }
                guard output(UnsafeRawBufferPointer(rebasing: buffer[..<count])) else {
                    process.terminate()
                    break
                }
            }
        } else {
            while process.isRunning {
                do throws(ModelStoreError) { try whileRunning() } catch {
                    process.terminate()
                    process.waitUntilExit()
                    throw error
                }
                usleep(50_000)
            }
        }
        process.waitUntilExit()
        let status = process.terminationStatus
        return Ended(
            status: process.terminationReason == .uncaughtSignal ? 128 + status : status, errorOutput: errors.text())
    }

    private func find() -> String? {
        if program.contains("/") { return program }
        for directory in (environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":") {
            let path = "\(directory)/\(program)"
            if access(path, X_OK) == 0 { return path }
        }
        return nil
    }
}

/// Reads a pipe on a thread of its own, so that the writer never waits, and keeps the last part of what came.
private final class ErrorCollector: Sendable {
    private let bytes = Mutex<[UInt8]>([])
    private let done = DispatchSemaphore(value: 0)
    private static let limit = 64 * 1024

    init(_ pipe: Pipe) {
        Thread.detachNewThread { [self] in
            let handle = pipe.fileHandleForReading
            var buffer = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = read(handle.fileDescriptor, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { break }
                bytes.withLock { bytes in
                    bytes += buffer[..<count]
                    if bytes.count > Self.limit { bytes.removeFirst(bytes.count - Self.limit) }
                }
            }
            done.signal()
        }
    }

    func text() -> String {
        // A grandchild may hold the pipe open after the child has ended.
        _ = done.wait(timeout: .now() + 2)
        return bytes.withLock { String(decoding: $0, as: UTF8.self) }
    }
}
