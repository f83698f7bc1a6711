import Foundation
import Inference
import TestSupport
import Testing
import Tokenizers

/// Answers must not depend on how many threads there are, how a prompt was cut and what else was computed at the time.
@Suite("Invariance")
struct InvarianceTests {
    @Test("logits are the same to the last bit for any number of threads and any chunk", arguments: CacheType.allCases)
    func logits(cacheType: CacheType) throws {
        let folder = try TemporaryFolder()
        try TinyModel.write(to: folder.file(), context: 1024)
        // Long enough for attention to be cut into ranges.
        let tokens = (0..<700).map { TokenID($0 * $0 % 250) }
        func digest(threads: Int, chunk: Int) throws -> [UInt64] {
            let transformer = try Transformer.load(folder.file(), threadCount: threads)
            var digests: [UInt64] = []
            try transformer.evaluate(tokens, chunk: chunk, cacheType: cacheType) { _, logits in
                digests.append(logits.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1.bitPattern)) &* 0x100_0000_01b3 })
            }
            return digests
        }
        let expected = try digest(threads: 1, chunk: 1)
        #expect(Set(expected).count > 600)
        for (threads, chunk) in [(2, 1), (1, 2), (2, 4), (1, 5), (2, 17), (3, 256), (2, 700)] {
            #expect(try digest(threads: threads, chunk: chunk) == expected, "\(threads) threads, chunks of \(chunk)")
        }
    }
}
