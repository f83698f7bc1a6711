import Foundation
import Inference
import Synchronization
import TestSupport
import Testing
import Tokenizers

/// Vectors of a small nomic-bert against those of a plain implementation, which `Benchmarks/figures/embeddings.py --fixture`
/// has written down.
@Suite("Embedding models")
struct EmbeddingModelTests {
    struct Fixture: Decodable {
        var metadata: [FamilyTests.Fixture.Pair]
        var tensors: [FamilyTests.Fixture.Tensor]
        var tokens: [[TokenID]]
        var vectors: [[Float]]
        /// Of 16 numbers.
        var shortVectors: [[Float]]

        func write(to url: URL) throws {
            var writer = GGUFWriter()
            writer.pairs =
                metadata.map { pair in
                    (
                        pair.key,
                        pair.str.map { .string($0) } ?? pair.int.map { .uint32($0) } ?? .float32(pair.float ?? 0)
                    )
                } + [
                    ("tokenizer.ggml.model", .string("bert")),
                    ("tokenizer.ggml.tokens", .strings(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "\u{2581}the"])),
                    ("tokenizer.ggml.token_type", .int32s([3, 3, 3, 3, 1])),
                    ("tokenizer.ggml.unknown_token_id", .uint32(1)),
                ]
            writer.tensors = tensors.map { tensor in
                let count = tensor.shape.reduce(1, *)
                let numbers = generatedWeights(tensor.name, count: count, scale: tensor.scale, offset: tensor.offset)
                return .init(tensor.name, tensor.shape, numbers)
            }
            try writer.write(to: url)
        }
    }

    static let fixture: Fixture = {
        let url = Bundle.module.url(forResource: "embeddings", withExtension: "json", subdirectory: "Fixtures")!
        return try! JSONDecoder().decode(Fixture.self, from: Data(contentsOf: url))
    }()

    private func difference(_ a: [Float], _ b: [Float]) -> Float {
        a.count == b.count ? zip(a, b).map { abs($0 - $1) }.max() ?? 0 : .infinity
    }

    @Test("vectors are those of the plain implementation")
    func vectors() throws {
        let folder = try TemporaryFolder()
        let fixture = Self.fixture
        try fixture.write(to: folder.file())
        for threadCount in [1, 2] {
            let model = try EmbeddingModel.load(folder.file(), threadCount: threadCount)
            let vectors = try #require(try model.vectors(of: fixture.tokens))
            let short = try #require(try model.vectors(of: fixture.tokens, dimensions: 16))
            for index in fixture.tokens.indices {
                #expect(difference(vectors[index], fixture.vectors[index]) < 2e-4)
                #expect(difference(short[index], fixture.shortVectors[index]) < 5e-4)
                #expect(abs(short[index].reduce(0) { $0 + $1 * $1 } - 1) < 1e-5)
            }
        }
    }

    private func tiny(_ numbers: [String: UInt32] = [:]) throws -> (EmbeddingModel, TemporaryFolder) {
        let folder = try TemporaryFolder()
        try TinyEncoder.write(to: folder.file(), numbers: numbers)
        return (try EmbeddingModel.load(folder.file(), threadCount: 2), folder)
    }

    @Test("a text's vector does not depend on the texts beside it")
    func invariance() throws {
        let (model, _) = try tiny()
        let texts = (1...40).map { length in (0..<length).map { TokenID(($0 * 5 + length) % 12) } }
        let together = try #require(try model.vectors(of: texts))
        for (text, vector) in zip(texts, together) {
            #expect(try model.vectors(of: [text]) == [vector])
        }
        // The order of the tokens counts.
        #expect(try model.vectors(of: [[2, 4, 5, 3]]) != model.vectors(of: [[2, 5, 4, 3]]))
        #expect(try model.vectors(of: []) == [])
    }

    @Test("texts get the marks of their ends")
    func tokens() throws {
        let (model, _) = try tiny()
        #expect(model.tokens(of: "Red greens!") == [2, 4, 5, 10, 11, 3])
        #expect(model.tokens(of: "purple [SEP]") == [2, 1, 1, 1, 1, 3])
    }

    @Test("what cannot be computed is refused")
    func refusals() throws {
        let (model, folder) = try tiny()
        #expect(model.contextSize == TinyEncoder.context && model.width == TinyEncoder.width)
        func reason(_ body: () throws -> Void) -> String {
            do {
                try body()
                return "none"
            } catch { return "\(error)" }
        }
        #expect(reason { _ = try model.vectors(of: [[2, 3], []]) }.contains("no token"))
        #expect(
            reason { _ = try model.vectors(of: [[TokenID](repeating: 4, count: TinyEncoder.context + 1)]) }
                .contains("65 tokens do not fit"))
        #expect(reason { _ = try model.vectors(of: [[12]]) }.contains("the token 12"))
        #expect(reason { _ = try model.vectors(of: [[-1]]) }.contains("the token -1"))
        for dimensions in [0, -1, TinyEncoder.width + 1] {
            #expect(reason { _ = try model.vectors(of: [[4]], dimensions: dimensions) }.contains("dimensions"))
        }
        // Models are for one thing or the other.
        #expect(reason { _ = try Engine.load(folder.file()) }.contains("embeddings"))
        #expect(reason { _ = try Transformer.load(folder.file(), threadCount: 1) }.contains("embeddings"))
        let other = try TemporaryFolder()
        try TinyModel.write(to: other.file())
        #expect(reason { _ = try EmbeddingModel.load(other.file()) }.contains("writes text"))
        #expect(reason { _ = try tiny(["nomic-bert.pooling_type": 2]) }.contains("pooling_type"))
        #expect(reason { _ = try tiny(["nomic-bert.feed_forward_length": 64]) }.contains("shape"))
    }

    @Test("work that is no longer wanted is given up")
    func cancellation() throws {
        let (model, _) = try tiny()
        let asked = Mutex(0)
        let vectors = try model.vectors(of: [[2, 4, 3]]) {
            asked.withLock { count in
                count += 1
                return count > 2
            }
        }
        #expect(vectors == nil && asked.withLock { $0 } == 3)
    }
}
