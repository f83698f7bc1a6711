import Foundation
import Inference
import JSON
import TestSupport
import Testing

/// Files that are wrong, by mistake or on purpose: each ends in an error that says which part, and none in a crash.
@Suite("Adapter files")
struct AdapterFileTests {
    private let folder: TemporaryFolder
    private let base: GGUFWriter
    private let configuration: ModelConfiguration

    init() throws {
        folder = try TemporaryFolder()
        var writer = GGUFWriter()
        try TinyModel.write(to: folder.file()) { writer = $0 }
        base = writer
        configuration = try ModelConfiguration(GGUFFile(folder.file()))
    }

    private var fixture: AdapterFixture {
        AdapterFixture(
            base, architecture: "qwen2", alpha: 4, matrices: [("blk.0.attn_q", 2), ("blk.1.ffn_down", 3)], seed: "file")
    }

    private func read(_ name: String) throws -> Adapter {
        try Adapter(AdapterFile(folder.file(name)), for: configuration)
    }

    @Test("what is wrong in a GGUF file is named")
    func gguf() throws {
        let nan = Float.nan
        let changes: [(String, (inout GGUFWriter) -> Void)] = [
            ("general.type is wrong: it is \"model\"", { $0.pairs[1].value = .string("model") }),
            ("general.type is wrong: it is \"missing\"", { $0.pairs.remove(at: 1) }),
            ("adapter.type is wrong", { $0.pairs[2].value = .string("control_vector") }),
            ("adapter.lora.alpha is wrong", { $0.pairs.removeLast() }),
            ("adapter.lora.alpha is wrong", { $0.pairs[3].value = .float32(.infinity) }),
            ("made for a model of the architecture \"llama\"", { $0.pairs[0].value = .string("llama") }),
            ("adapter.alora", { $0.pairs.append(("adapter.alora.invocation_tokens", .int32s([1]))) }),
            ("has no tensor", { $0.tensors = [] }),
            ("blk.0.attn_q.weight.lora_b is missing", { $0.tensors.remove(at: 1) }),
            ("blk.0.attn_q.weight.lora_a is missing", { $0.tensors.remove(at: 0) }),
            (
                "blk.9.attn_q.weight.lora_a cannot be applied: the model in use has no matrix blk.9.attn_q",
                {
                    $0.tensors[0].name = "blk.9.attn_q.weight.lora_a"
                    $0.tensors[1].name = "blk.9.attn_q.weight.lora_b"
                }
            ),
            (
                "the model in use has no matrix blk.00.attn_q",
                {
                    $0.tensors[0].name = "blk.00.attn_q.weight.lora_a"
                    $0.tensors[1].name = "blk.00.attn_q.weight.lora_b"
                }
            ),
            (
                "token_embd.weight.lora_a cannot be applied",
                {
                    $0.tensors[0].name = "token_embd.weight.lora_a"
                    $0.tensors[1].name = "token_embd.weight.lora_b"
                }
            ),
            (
                "blk.0.attn_q.weight cannot be applied: its name does not end",
                { $0.tensors[0].name = "blk.0.attn_q.weight" }
            ),
            (
                "blk.0.attn_q.weight.lora_a has the shape [2, 16]; the model in use needs 32 columns",
                {
                    $0.tensors[0] = .init("blk.0.attn_q.weight.lora_a", [16, 2], [Float](repeating: 1, count: 32))
                }
            ),
            (
                "blk.0.attn_q.weight.lora_b has the shape [8, 2]; the model in use needs 32 rows",
                {
                    $0.tensors[1] = .init("blk.0.attn_q.weight.lora_b", [2, 8], [Float](repeating: 1, count: 16))
                }
            ),
            (
                "the rank of blk.0.attn_q is wrong: blk.0.attn_q.weight.lora_a has 1, blk.0.attn_q.weight.lora_b has 2",
                {
                    $0.tensors[0] = .init("blk.0.attn_q.weight.lora_a", [32, 1], [Float](repeating: 1, count: 32))
                }
            ),
            (
                "the rank of blk.0.attn_q is wrong: 5000 is not between 1 and 4096",
                {
                    $0.tensors[0] = .init(
                        "blk.0.attn_q.weight.lora_a", [32, 5000], [Float](repeating: 1, count: 160_000))
                    $0.tensors[1] = .init(
                        "blk.0.attn_q.weight.lora_b", [5000, 32], [Float](repeating: 1, count: 160_000))
                }
            ),
            (
                "two dimensions",
                {
                    $0.tensors[0] = .init("blk.0.attn_q.weight.lora_a", [32], [Float](repeating: 1, count: 32))
                }
            ),
            (
                "blk.0.attn_q.weight.lora_a has a value that is not a finite",
                {
                    $0.tensors[0] = .init(
                        "blk.0.attn_q.weight.lora_a", [32, 2], [Float](repeating: 1, count: 63) + [nan])
                }
            ),
            (
                "blk.1.ffn_down.weight.lora_b has a value that is not a finite",
                {
                    $0.tensors[3] = .init("blk.1.ffn_down.weight.lora_b", [3, 32], [Float](repeating: 3e38, count: 96))
                }
            ),
        ]
        for (fault, change) in changes {
            var writer = fixture.gguf
            change(&writer)
            try writer.write(to: folder.file("adapter.gguf"))
            let error = #expect(throws: AdapterError.self, "\(fault)") { try read("adapter.gguf") }
            #expect(error?.description.contains(fault) ?? false, "\(error?.description ?? "none"), not \(fault)")
        }
        #expect(throws: AdapterError.self) { try read("nothing-there.gguf") }
    }

    /// Writes peft's files.
    private func write(_ configuration: String?, _ writer: SafetensorsWriter) throws {
        try writer.data.write(to: folder.file("adapter_model.safetensors"))
        let file = folder.file("adapter_config.json")
        if let configuration {
            try Data(configuration.utf8).write(to: file)
        } else {
            try? FileManager.default.removeItem(at: file)
        }
    }

    private var safetensors: SafetensorsWriter {
        var writer = SafetensorsWriter()
        for factor in fixture.factors {
            let module = PEFT.module(factor.matrix)
            writer.tensors.append(("\(module).lora_A.weight", [factor.rank, factor.columns], factor.a))
            writer.tensors.append(("\(module).lora_B.weight", [factor.rows, factor.rank], factor.b))
        }
        return writer
    }

    private static let plain =
        #"{"peft_type": "LORA", "r": 2, "lora_alpha": 4, "bias": "none", "modules_to_save": null}"#

    @Test(
        "what of peft's configuration is not supported is named",
        arguments: [
            (nil, "adapter_config.json"), ("{", "adapter_config.json"), ("[]", "it is no JSON object"),
            (#"{"lora_alpha": 4}"#, "peft_type"), (#"{"peft_type": "IA3", "lora_alpha": 4}"#, "peft_type"),
            (#"{"peft_type": "LORA"}"#, "lora_alpha"), (#"{"peft_type": "LORA", "lora_alpha": 1e300}"#, "lora_alpha"),
            (#"{"peft_type": "LORA", "lora_alpha": 4, "use_dora": true}"#, "use_dora"),
            (#"{"peft_type": "LORA", "lora_alpha": 4, "bias": "all"}"#, "trained biases"),
            (#"{"peft_type": "LORA", "lora_alpha": 4, "modules_to_save": ["lm_head"]}"#, "modules_to_save"),
            (#"{"peft_type": "LORA", "lora_alpha": 4, "init_lora_weights": "pissa"}"#, "\"pissa\" changes the base"),
            (#"{"peft_type": "LORA", "lora_alpha": 4, "alpha_pattern": {".*q_proj": 3}}"#, "alpha_pattern"),
        ] as [(String?, String)])
    func configuration(text: String?, fault: String) throws {
        try write(text, safetensors)
        let error = #expect(throws: AdapterError.self) { try read("adapter_model.safetensors") }
        #expect(error?.description.contains(fault) ?? false, "\(error?.description ?? "none")")
    }

    @Test("scales follow alpha, rank, patterns and rank-stabilised LoRA")
    func scales() throws {
        func digest(_ configuration: String, _ change: (inout [Float]) -> Void = { _ in }) throws -> [UInt8] {
            var writer = safetensors
            change(&writer.tensors[1].values)
            try write(configuration, writer)
            return try read("adapter_model.safetensors").digest
        }
        func configuration(_ alpha: Double, _ more: String = "") -> String {
            #"{"peft_type": "LORA", "lora_alpha": \#(alpha)\#(more)}"#
        }
        let four = try digest(configuration(4))
        #expect(try digest(configuration(5)) != four)
        // q_proj has rank 2 and scale 2; twice the numbers at half the alpha are the same product.
        #expect(
            try digest(configuration(4, #", "alpha_pattern": {"q_proj": 2}"#)) { for i in $0.indices { $0[i] *= 2 } }
                == four)
        #expect(try digest(configuration(4, #", "use_rslora": true"#)) != four)
        #expect(try digest(configuration(4, #", "use_rslora": false, "init_lora_weights": "gaussian""#)) == four)
    }

    @Test("what is wrong in a safetensors file is named")
    func safetensorsFaults() throws {
        let q = PEFT.module("blk.0.attn_q")
        func entry(_ dtype: String, _ shape: String, _ offsets: String) -> String {
            "{\"\(q).lora_A.weight\": {\"dtype\": \"\(dtype)\", \"shape\": \(shape), \"data_offsets\": \(offsets)}}"
        }
        let changes: [(String, (inout SafetensorsWriter) -> Void)] = [
            ("its header has 18446744073709551615 bytes", { $0.headerLength = .max }),
            ("its header has 1099511627776 bytes", { $0.headerLength = 1 << 40 }),
            ("its header:", { $0.headerLength = 3 }),
            ("its header is no JSON object", { $0.header = "[]" }),
            ("its header:", { $0.header = String(repeating: "[", count: 1000) }),
            ("has no dtype, shape and data_offsets", { $0.header = "{\"\(q).lora_A.weight\": 3}" }),
            ("has the type I8", { $0.header = entry("I8", "[2, 32]", "[0, 64]") }),
            ("impossible", { $0.header = entry("F32", "[2, -32]", "[0, 256]") }),
            ("impossible", { $0.header = entry("F32", "[0, 32]", "[0, 0]") }),
            ("impossible", { $0.header = entry("F32", "[4294967296, 4294967296]", "[0, 0]") }),
            ("impossible", { $0.header = entry("F32", "[2.5, 32]", "[0, 256]") }),
            ("not as long as its shape", { $0.header = entry("F32", "[2, 32]", "[0, 255]") }),
            ("not as long as its shape", { $0.header = entry("F32", "[2, 32]", "[-9223372036854775808, 256]") }),
            ("do not begin where", { $0.header = entry("F32", "[2, 32]", "[4, 260]") }),
            ("ends inside the data", { $0.header = entry("F32", "[2, 3200000]", "[0, 25600000]") }),
            ("not as long as its header says", { $0.header = entry("F32", "[2, 32]", "[0, 256]") }),
            ("lora_B.weight is missing", { $0.tensors.remove(at: 1) }),
            (
                "\(q).lora_B.weight has the shape [31, 2]",
                { writer in
                    writer.tensors[1].shape = [31, 2]
                    writer.tensors[1].values.removeLast(2)
                }
            ),
            ("does not begin with base_model.model.", { $0.tensors[0].name = "model.lora_A.weight" }),
            ("the token embedding", { $0.tensors[0].name = "base_model.model.model.embed_tokens.lora_embedding_A" }),
            ("save_embedding_layers=False", { $0.tensors[0].name = "base_model.model.model.embed_tokens.weight" }),
            ("DoRA", { $0.tensors[0].name = "\(q).lora_magnitude_vector" }),
            ("no module", { $0.tensors[0].name = "base_model.model.model.layers.0.mlp.experts.lora_A.weight" }),
            (
                "are the same matrix",
                { $0.tensors[0].name = "base_model.model.layers.0.self_attn.q_proj.lora_A.weight" }
            ),
            ("\(q).lora_A.weight has a value that is not a finite", { $0.tensors[0].values[5] = .infinity }),
        ]
        for (fault, change) in changes {
            var writer = safetensors
            change(&writer)
            try write(Self.plain, writer)
            let error = #expect(throws: AdapterError.self, "\(fault)") { try read("adapter_model.safetensors") }
            #expect(error?.description.contains(fault) ?? false, "\(error?.description ?? "none"), not \(fault)")
        }
        try write(Self.plain, safetensors)
        #expect(try read("adapter_model.safetensors").rank == 3)
    }

    @Test("damaged files are read or refused, never more")
    func damaged() throws {
        var generator = SeededGenerator(seed: 7)
        try write(Self.plain, safetensors)
        var refused = 0
        for (name, data) in [("adapter.gguf", fixture.gguf.data()), ("adapter_model.safetensors", safetensors.data)] {
            for mutation in Mutation.allCases {
                for _ in 0..<60 {
                    var damaged = data
                    mutation.apply(to: &damaged, within: min(700, damaged.count), &generator)
                    try damaged.write(to: folder.file(name))
                    do { _ = try read(name) } catch is AdapterError { refused += 1 }
                }
            }
        }
        #expect(refused > 300)
    }
}
