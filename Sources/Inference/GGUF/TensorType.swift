/// How the numbers of a tensor are stored in a GGUF file: the `ggml_type` of the format.
///
/// A type stores a row as whole blocks, each of `blockLength` numbers in `blockBytes` bytes.
/// Source: the GGUF specification (ggml, docs/gguf.md) and the block layouts of ggml-common.h.
package enum TensorType: UInt32, Sendable, CaseIterable {
    case f32 = 0
    case f16 = 1
    case q4_0 = 2
    case q4_1 = 3
    case q5_0 = 6
    case q5_1 = 7
    case q8_0 = 8
    case q2_K = 10
    case q3_K = 11
    case q4_K = 12
    case q5_K = 13
    case q6_K = 14
    case iq4_nl = 20
    case iq4_xs = 23
    case bf16 = 30

    /// How many numbers one block holds.
    package var blockLength: Int {
        switch self {
        case .f32, .f16, .bf16: 1
        case .q4_0, .q4_1, .q5_0, .q5_1, .q8_0, .iq4_nl: 32
        case .q2_K, .q3_K, .q4_K, .q5_K, .q6_K, .iq4_xs: 256
        }
    }

    /// How many bytes one block takes.
    package var blockBytes: Int {
        switch self {
        case .f32: 4
        case .f16, .bf16: 2
        case .q4_0: 2 + 16
        case .q4_1: 4 + 16
        case .q5_0: 2 + 4 + 16
        case .q5_1: 4 + 4 + 16
        case .q8_0: 2 + 32
        case .q2_K: 16 + 64 + 4
        case .q3_K: 32 + 64 + 12 + 2
        case .q4_K: 4 + 12 + 128
        case .q5_K: 4 + 12 + 32 + 128
        case .q6_K: 128 + 64 + 16 + 2
        case .iq4_nl: 2 + 16
        case .iq4_xs: 2 + 2 + 4 + 128
        }
    }

    /// The name that the field gives the type, such as `Q4_K`.
    package var name: String {
        switch self {
        case .f32: "F32"
        case .f16: "F16"
        case .q4_0: "Q4_0"
        case .q4_1: "Q4_1"
        case .q5_0: "Q5_0"
        case .q5_1: "Q5_1"
        case .q8_0: "Q8_0"
        case .q2_K: "Q2_K"
        case .q3_K: "Q3_K"
        case .q4_K: "Q4_K"
        case .q5_K: "Q5_K"
        case .q6_K: "Q6_K"
        case .iq4_nl: "IQ4_NL"
        case .iq4_xs: "IQ4_XS"
        case .bf16: "BF16"
        }
    }

    /// The bytes of a row of `count` numbers, or nil when that is not a whole number of blocks or overflows.
    package func rowBytes(_ count: Int) -> Int? {
        guard count >= 0, count % blockLength == 0 else { return nil }
        let (bytes, overflow) = (count / blockLength).multipliedReportingOverflow(by: blockBytes)
        return overflow ? nil : bytes
    }
}
