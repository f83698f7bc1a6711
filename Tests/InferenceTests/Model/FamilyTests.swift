import Foundation
import Inference
import TestSupport
import Testing
import Tokenizers

/// Logits of small models of every family against those of `transformers`, which `Benchmarks/figures/families.py --fixture`
/// has written down.
@Suite("Families")
struct FamilyTests {
    struct Fixture: Decodable, Sendable, CustomTestStringConvertible {
        struct Pair: Decodable, Sendable {
            var key: String
            var str: String?
            var int: UInt32?
            var float: Float?
        }
        struct Tensor: Decodable, Sendable {
            var name: String
            var shape: [Int]
            var scale: Float
            var offset: Float
        }
        struct Constant: Decodable, Sendable {
            var name: String
            var values: [Float]
        }

        var name: String
        var metadata: [Pair]
        var tensors: [Tensor]
        var constants: [Constant]
        var tokens: [TokenID]
        var positions: [Int]
        var logits: [[Float]]
        var testDescription: String { name }

        var writer: GGUFWriter {
            var writer = GGUFWriter()
            writer.pairs = metadata.map { pair in
                (pair.key, pair.str.map { .string($0) } ?? pair.int.map { .uint32($0) } ?? .float32(pair.float ?? 0))
            }
            writer.tensors =
                constants.map { .init($0.name, [$0.values.count], $0.values) }
                + tensors.map { tensor in
                    let count = tensor.shape.reduce(1, *)
                    let numbers = generatedWeights(
                        tensor.name, count: count, scale: tensor.scale, offset: tensor.offset)
                    return .init(tensor.name, tensor.shape, numbers)
                }
            return writer
        }
    }

    static let fixtures: [Fixture] = {
        let url = Bundle.module.url(forResource: "families", withExtension: "json", subdirectory: "Fixtures")!
        return try! JSONDecoder().decode([Fixture].self, from: Data(contentsOf: url))
    }()

    @Test("every architecture of the table has a fixture")
    func coverage() {
        let tested = Set(
            Self.fixtures.flatMap { $0.metadata.compactMap { $0.key == "general.architecture" ? $0.str : nil } })
        #expect(tested == Set(Architecture.all.map(\.name)))
    }

    @Test("logits are those of transformers, as a prompt and token by token", arguments: fixtures)
    func logits(fixture: Fixture) throws {
        let folder = try TemporaryFolder()
        try fixture.writer.write(to: folder.file())
        for (threadCount, chunk) in [(2, fixture.tokens.count), (1, 1), (2, 7)] {
            let transformer = try Transformer.load(folder.file(), threadCount: threadCount)
            var worst: Float = 0
            var compared = 0
            try transformer.evaluate(fixture.tokens, chunk: chunk) { position, logits in
                guard let index = fixture.positions.firstIndex(of: position) else { return }
                let expected = fixture.logits[index]
                #expect(logits.count == expected.count)
                let greatest = expected.map(abs).max()!
                worst = max(worst, zip(logits, expected).map { abs($0 - $1) }.max()! / greatest)
                compared += 1
            }
            #expect(compared == fixture.positions.count)
            #expect(worst < 1e-3, "chunk \(chunk)")
        }
    }
}
