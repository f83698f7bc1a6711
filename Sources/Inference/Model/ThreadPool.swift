import CKernels

/// The team of threads that computes for one engine. One thread at a time may call it.
final class ThreadPool: @unchecked Sendable {
    let pool: OpaquePointer

    init(threads: Int) throws(InferenceError) {
        guard let pool = ck_pool_create(Int32(clamping: threads)) else {
            throw .outOfMemory(bytes: 0, purpose: "\(threads) threads")
        }
        self.pool = pool
    }

    deinit { ck_pool_destroy(pool) }

    var threadCount: Int { Int(ck_pool_threads(pool)) }

    /// Runs `body` once for each index in 0..<count, on all threads, and returns when all have ended.
    func forEach(_ count: Int, _ body: (Int) -> Void) {
        withoutActuallyEscaping(body) { body in
            var context = body
            withUnsafeMutablePointer(to: &context) { context in
                ck_pool_for(
                    pool, Int64(count),
                    { context, index, _ in context!.assumingMemoryBound(to: ((Int) -> Void).self).pointee(Int(index)) },
                    context)
            }
        }
    }
}
