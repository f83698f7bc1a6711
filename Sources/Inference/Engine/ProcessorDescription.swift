import CKernels
import Foundation

/// What computes here, for tables of speeds.
package enum ProcessorDescription {
    /// The name that Linux gives the processor, such as `AMD EPYC 7763 64-Core Processor`.
    package static var name: String {
        let text = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)) ?? ""
        // x86 says `model name`; some ARM kernels say `Model` or nothing.
        for key in ["model name", "Model", "Hardware"] {
            for line in text.split(separator: "\n") {
                let parts = line.split(separator: ":", maxSplits: 1)
                guard parts.count == 2, parts[0].trimmingCharacters(in: .whitespaces) == key else { continue }
                return parts[1].trimmingCharacters(in: .whitespaces)
            }
        }
        return "an unnamed processor"
    }

    /// The instruction set that the kernels use: `avx2`, `scalar` and so on.
    package static var instructionSet: String { String(cString: ck_set_name(ck_selected())) }

    /// The processors that this process may use.
    package static var count: Int { max(1, ProcessInfo.processInfo.activeProcessorCount) }
}
