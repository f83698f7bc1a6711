import Foundation

extension ChildProcess {
    /// Starts the program with no signal blocked, every signal's default handler, a process group of its own and no other
    /// descriptors than the three standard ones. Foundation's `Process` hands on the signal mask of the thread that starts the
    /// program, and threads of a pool block every signal.
    func spawn(_ path: String, _ pipes: ChildPipes) -> Result<pid_t, SystemCode> {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF) | Int16(POSIX_SPAWN_SETPGROUP))

        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        var codes: [Int32] = []
        func connect(_ end: Int32?, to standard: Int32, _ mode: Int32) {
            codes.append(
                end.map { posix_spawn_file_actions_adddup2(&actions, $0, standard) }
                    ?? posix_spawn_file_actions_addopen(&actions, standard, "/dev/null", mode, 0))
        }
        connect(pipes.input?.childEnd, to: STDIN_FILENO, O_RDONLY)
        connect(pipes.output?.childEnd, to: STDOUT_FILENO, O_WRONLY)
        if !sharesErrorOutput { connect(pipes.error?.childEnd, to: STDERR_FILENO, O_WRONLY) }
        // Other code of this process may have descriptors that are not closed on exec.
        // One that is closed again by then does no harm.
        for name in (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? [] {
            guard let descriptor = Int32(name), descriptor > STDERR_FILENO else { continue }
            codes.append(posix_spawn_file_actions_addclose(&actions, descriptor))
        }
        if let code = codes.first(where: { $0 != 0 }) { return .failure(SystemCode(rawValue: code)) }

        let words = ([path] + arguments).map { strdup($0) }
        let variables = environment.map { strdup("\($0.key)=\($0.value)") }
        defer { for text in words + variables { free(text) } }
        var child: pid_t = 0
        func start() -> Int32 {
            posix_spawn(&child, path, &actions, &attributes, words + [nil], variables + [nil])
        }
        var code = start()
        // A program that this process has just written is busy while the child of another thread, not yet the program that it is to be,
        // has its descriptor too.
        for _ in 0..<20 where code == ETXTBSY {
            usleep(5000)
            code = start()
        }
        return code == 0 ? .success(child) : .failure(SystemCode(rawValue: code))
    }
}

/// A value of `errno`.
struct SystemCode: Error {
    let rawValue: Int32
}
