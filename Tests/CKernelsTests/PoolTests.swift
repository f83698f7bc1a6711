import CKernels
import Foundation
import Synchronization
import Testing

@Suite struct PoolTests {
    /// How often each index was worked on, and by threads of which numbers.
    final class Tally: Sendable {
        let counts: [Count]
        let greatestThread = Atomic<Int>(0)

        init(_ count: Int) { counts = (0..<count).map { _ in Count() } }
    }

    final class Count: Sendable {
        let value = Atomic<Int>(0)
    }

    final class Flag: Sendable {
        let isSet = Atomic<Bool>(false)
    }

    static func run(_ pool: OpaquePointer, _ tally: Tally) {
        let context = Unmanaged.passUnretained(tally).toOpaque()
        ck_pool_for(
            pool, Int64(tally.counts.count),
            { context, index, thread in
                let tally = Unmanaged<Tally>.fromOpaque(context!).takeUnretainedValue()
                tally.counts[Int(index)].value.add(1, ordering: .relaxed)
                tally.greatestThread.max(Int(thread), ordering: .relaxed)
            }, context)
    }

    @Test(arguments: [1, 2, 3, 8, 64])
    func `every index is worked on once`(threads: Int) {
        let pool = Pool(threads: Int32(threads))
        #expect(ck_pool_threads(pool.pool) == Int32(threads))
        for count in [0, 1, 2, 3, 17, 1000] {
            let tally = Tally(count)
            for _ in 0..<50 { Self.run(pool.pool, tally) }
            #expect(tally.counts.allSatisfy { $0.value.load(ordering: .relaxed) == 50 })
            #expect(tally.greatestThread.load(ordering: .relaxed) < threads)
        }
    }

    @Test func `workers that sleep are woken`() {
        let pool = Pool(threads: 3)
        let tally = Tally(6)
        for _ in 0..<5 {
            Self.run(pool.pool, tally)
            Thread.sleep(forTimeInterval: 0.02)
        }
        #expect(tally.counts.allSatisfy { $0.value.load(ordering: .relaxed) == 5 })
    }

    @Test func `numbers of threads are brought into range`() {
        #expect(ck_pool_threads(Pool(threads: 0).pool) == 1)
        #expect(ck_pool_threads(Pool(threads: -3).pool) == 1)
        #expect(ck_pool_threads(Pool(threads: 1000).pool) == CK_MAXIMUM_THREADS)
    }

    @Test func `many pools come and go`() {
        for i in 0..<100 {
            let pool = Pool(threads: Int32(1 + i % 5))
            if i % 2 == 0 { Self.run(pool.pool, Tally(10)) }
        }
    }

    /// More busy threads than cores: loops must get slower in proportion, not collapse. 20,000 loops of two pieces take some
    /// 10 ms on a free machine; a pool that waits for descheduled workers takes a time slice (milliseconds) for each.
    @Test func `contention does not collapse it`() {
        let stop = Flag()
        let busy = (0..<ProcessInfo.processInfo.activeProcessorCount).map { _ in
            let thread = Thread { while !stop.isSet.load(ordering: .relaxed) {} }
            thread.start()
            return thread
        }
        let pool = Pool(threads: 2)
        let tally = Tally(2)
        let time = ContinuousClock().measure {
            for _ in 0..<20_000 { Self.run(pool.pool, tally) }
        }
        stop.isSet.store(true, ordering: .relaxed)
        #expect(busy.count > 0)
        #expect(tally.counts.allSatisfy { $0.value.load(ordering: .relaxed) == 20_000 })
        #expect(time < .seconds(20))
    }

    @Test(arguments: [1, 4096, 3 << 20])
    func `memory is aligned and zeroed`(bytes: Int) throws {
        let memory = try #require(ck_allocate(bytes))
        #expect(UInt(bitPattern: memory) % (bytes >= 2 << 20 ? 2 << 20 : 64) == 0)
        #expect(UnsafeRawBufferPointer(start: memory, count: bytes).allSatisfy { $0 == 0 })
        ck_free(memory, bytes)
        #expect(ck_allocate(Int.max) == nil)
    }
}
