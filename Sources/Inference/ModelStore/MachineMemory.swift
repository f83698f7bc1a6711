import Foundation

/// How much memory this process may use, and what fits into it.
package enum MachineMemory {
    /// What a model needs beside its file: KV cache, activations, the program itself.
    static let overhead: Int64 = 512 << 20

    /// Bytes of memory of the machine, or of the control group that this process is confined to if that is less.
    package static var total: Int64 {
        let machine = Int64(clamping: ProcessInfo.processInfo.physicalMemory)
        let limits = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"]
        // `max` in the file, which is no number, means no limit.
        let limit = limits.lazy.compactMap { path -> Int64? in
            guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return nil }
            return Int64(text.trimmingCharacters(in: .whitespacesAndNewlines))
        }.first
        return limit.map { min($0, machine) } ?? machine
    }

    /// Whether a model file of this size runs well: its weights are read once per token and must stay in memory, beside
    /// everything else that the machine does, for which a quarter is left.
    package static func fits(fileSize: Int64, memory: Int64) -> Bool { fileSize + overhead <= memory / 4 * 3 }
}
