import Foundation
import Inference
import Synchronization
import Testing
import TestSupport
import fm

@Suite struct PullReporterTests {
    private func text(
        _ received: Int64, of total: Int64?, rate: Double?, width: Int?,
        stage: ModelStore.PullProgress.Stage = .fetching
    ) -> String {
        PullReporter.text("m", .init(stage: stage, received: received, total: total), rate: rate, width: width)
    }

    @Test func lines() {
        #expect(text(0, of: nil, rate: nil, width: nil) == "m: 0 B")
        #expect(text(250_000_000, of: 1_000_000_000, rate: nil, width: nil) == "m: 25 %, 250 MB of 1.00 GB")
        #expect(
            text(250_000_000, of: 1_000_000_000, rate: 10_000_000, width: nil)
                == "m: 25 %, 250 MB of 1.00 GB, 10.0 MB/s, 1:15 left")
        #expect(
            text(500_000_000, of: 1_000_000_000, rate: 10_000_000, width: 80)
                == "m: [##############..............] 50 %, 500 MB of 1.00 GB, 10.0 MB/s, 50 s left")
        // A standstill has no time left, and a whole file neither.
        #expect(text(5, of: 10, rate: 0, width: nil) == "m: 50 %, 5 B of 10 B, 0 B/s")
        #expect(text(10, of: 10, rate: 3, width: nil) == "m: 100 %, 10 B of 10 B, 3 B/s")
        #expect(text(0, of: nil, rate: nil, width: 80, stage: .waiting) == "m: another process is fetching it; waiting")
        #expect(text(5_000_000, of: nil, rate: nil, width: 80, stage: .checking) == "m: checking what is here, 5.00 MB")
    }

    @Test func neverWiderThanTheTerminal() {
        for width in 20...120 {
            let line = text(500_000_000, of: 1_000_000_000, rate: 10_000_000, width: width)
            #expect(line.count < max(21, width), "\(width): \(line)")
        }
    }

    @Test func withoutATerminalLinesAreRare() throws {
        let folder = ScratchFolder()
        let descriptor = open("\(folder.path)/log", O_RDWR | O_CREAT, 0o600)
        let time = Mutex(0.0)
        let reporter = PullReporter(
            name: "m", output: Output(descriptor: descriptor, environment: [:]), isQuiet: false,
            clock: { time.withLock { $0 } })
        for step in 0...300 {
            time.withLock { $0 = Double(step) / 10 }
            reporter.report(.init(stage: .fetching, received: Int64(step) * 1_000_000, total: 300_000_000))
        }
        reporter.report(.init(stage: .fetching, received: 300_000_000, total: 300_000_000))
        reporter.finish()
        close(descriptor)
        let lines = String(decoding: try #require(folder.read("log")), as: UTF8.self).split(separator: "\n")
        #expect(
            lines == [
                "m: 0 %, 0 B of 300 MB", "m: 33 %, 100 MB of 300 MB, 10.0 MB/s, 20 s left",
                "m: 66 %, 200 MB of 300 MB, 10.0 MB/s, 10 s left", "m: 100 %, 300 MB of 300 MB, 10.0 MB/s",
            ])
    }
}
