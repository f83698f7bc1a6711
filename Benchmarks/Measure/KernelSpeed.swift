import CKernels
import Foundation

/// `measure kernel-speed [THREADS] [fine] [TYPE ...]`: how fast the kernels are, beside what memory and
/// registers give in the same run.
///
/// For every type of weights: products with 1, 2 and 4 tokens in GB of weights per second (every weight is read once a
/// call; matrices are cycled through 256 MiB, so that no cache helps), products with 16 and 512 tokens in Gop/s (two
/// operations per weight and token), and preparation in GB/s. Then attention. Medians of several runs. With `fine`, what is
/// multiplied is rounded to 15 bits instead of 8.
func kernelSpeed(_ arguments: [String]) async throws {
    let threads = arguments.first.flatMap(Int32.init) ?? Int32(clamping: ProcessInfo.processInfo.activeProcessorCount)
    let fine = arguments.contains("fine")
    let wanted = arguments.filter { Int32($0) == nil && $0 != "fine" }
    guard let pool = ck_pool_create(threads) else { throw CocoaError(.featureUnsupported) }
    defer { ck_pool_destroy(pool) }
    let room = 256 << 20
    guard let weights = ck_allocate(room), let prepared = ck_allocate(room) else {
        throw CocoaError(.featureUnsupported)
    }
    defer {
        ck_free(weights, room)
        ck_free(prepared, room)
    }
    fillWithModestWeights(weights, bytes: room)
    let set = String(cString: ck_set_name(ck_selected()))
    print(
        "\(ck_pool_threads(pool)) threads, \(set); reading \(rate(readingSpeed(pool, weights, bytes: room))) GB/s, "
            + "8-bit products \(rate(ck_int8_rate(pool) / 1e9)) Gop/s")
    let header = ["1 token", "2 tokens", "4 tokens", "16 tokens", "512 tokens", "prepare"].map { $0.padded(to: 12) }
        .joined()
    print("type    " + header)
    let types: [ck_type] = [
        CK_Q4_0, CK_Q4_1, CK_Q5_0, CK_Q5_1, CK_Q8_0, CK_Q2_K, CK_Q3_K, CK_Q4_K, CK_Q5_K, CK_Q6_K, CK_IQ4_NL, CK_IQ4_XS,
        CK_F16,
        CK_BF16, CK_F32,
    ]
    for type in types where wanted.isEmpty || wanted.contains(String(cString: ck_type_name(type))) {
        let (rows, cols) = (2048, 1536)
        let bytes = ck_matrix_bytes(type, Int64(rows), Int64(cols))
        let count = room / bytes
        let x = (0..<512 * cols).map { Float($0 * 7919 % 2001 - 1000) / 500 }
        var y = [Float](repeating: 0, count: 512 * rows)
        func multiply(_ index: Int, tokens: Int) {
            y.withUnsafeMutableBufferPointer { y in
                var matrix = ck_matrix(
                    type: type, rows: Int64(rows), cols: Int64(cols), data: weights + index % count * bytes,
                    fine: fine)
                withUnsafePointer(to: &matrix) {
                    var product = ck_product(
                        matrix: $0, y: y.baseAddress, y_stride: Int64(rows), bias: nil, accumulates: false)
                    _ = ck_matmul(pool, x, Int64(cols), Int64(tokens), &product, 1)
                }
            }
        }
        var line = String(cString: ck_type_name(type)).padded(to: 8)
        for tokens in [1, 2, 4] {
            let seconds = medianSeconds(runs: 5) { for i in 0..<count { multiply(i, tokens: tokens) } }
            line += (rate(Double(count * bytes) / seconds / 1e9) + " GB/s").padded(to: 12)
        }
        var next = 0
        for tokens in [16, 512] {
            let seconds = medianSeconds(runs: tokens == 16 ? 21 : 7) {
                multiply(next, tokens: tokens)
                next += 1
            }
            line += (rate(Double(2 * rows * cols * tokens) / seconds / 1e9) + " Gop/s").padded(to: 12)
        }
        let preparing = Preparing(type: type, source: weights, destination: prepared, rows: count * rows, cols: cols)
        let seconds = medianSeconds(runs: 3) {
            ck_pool_for(
                pool, Int64(preparing.rows / 64),
                { context, index, _ in
                    Unmanaged<Preparing>.fromOpaque(context!).takeUnretainedValue().prepare(Int(index))
                }, Unmanaged.passUnretained(preparing).toOpaque())
        }
        line += rate(Double(count * bytes) / seconds / 1e9) + " GB/s"
        print(line)
    }
    if wanted.isEmpty {
        for type in [CK_F16, CK_Q8_0] { measureAttention(pool, type) }
    }
}

private final class Preparing: Sendable {
    let type: ck_type
    nonisolated(unsafe) let source: UnsafeMutableRawPointer
    nonisolated(unsafe) let destination: UnsafeMutableRawPointer
    let rows: Int
    let cols: Int

    init(type: ck_type, source: UnsafeMutableRawPointer, destination: UnsafeMutableRawPointer, rows: Int, cols: Int) {
        (self.type, self.source, self.destination, self.rows, self.cols) = (type, source, destination, rows, cols)
    }

    func prepare(_ index: Int) {
        let offset = index * 64 * ck_row_bytes(type, Int64(cols))
        _ = ck_pack(type, source + offset, destination + offset, 64, Int64(cols))
    }
}

/// Decoding at depth (GB of cache per second) and a prompt's attention (Gop/s: two per product, scores and values).
private func measureAttention(_ pool: OpaquePointer, _ type: ck_type) {
    let (heads, kvHeads, dim, depth) = (12, 2, 128, 4096)
    let bytes = ck_cache_bytes(type, Int64(kvHeads), Int64(dim), Int64(depth))
    let layers = 32  // cycled through, as a model does
    var caches: [ck_cache] = []
    for _ in 0..<layers {
        guard let keys = ck_allocate(bytes), let values = ck_allocate(bytes) else { return }
        caches.append(ck_cache(keys: keys, values: values, capacity: Int64(depth), type: type))
    }
    defer {
        for cache in caches {
            ck_free(cache.keys, bytes)
            ck_free(cache.values, bytes)
        }
    }
    let shape = ck_attention_shape(
        heads: Int32(heads), kv_heads: Int32(kvHeads), head_dim: Int32(dim), scale: 0.09, soft_cap: 0, window: 0)
    let q = (0..<512 * heads * dim).map { Float($0 * 31 % 200 - 100) / 100 }
    var out = q
    let width = Int64(heads * dim)
    caches.withUnsafeMutableBufferPointer { caches in
        for cache in caches {
            let keys = (0..<depth * kvHeads * dim).map { Float($0 * 17 % 100 - 50) / 50 }
            var copy = cache
            withUnsafePointer(to: &copy) { pointer in
                let tokens = (0..<depth).map { ck_token(cache: pointer, position: Int64($0)) }
                let stride = Int64(kvHeads * dim)
                ck_cache_store(pool, keys, stride, keys, stride, tokens, Int64(depth), Int32(kvHeads), Int32(dim))
            }
        }
        let decoding = medianSeconds(runs: 7) {
            for layer in 0..<layers {
                var token = ck_token(cache: caches.baseAddress! + layer, position: Int64(depth - 1))
                _ = ck_attention(pool, q, width, &token, 1, shape, &out, width)
            }
        }
        let tokens = (0..<512).map { ck_token(cache: caches.baseAddress!, position: Int64(2048 + $0)) }
        let prompt = medianSeconds(runs: 7) { _ = ck_attention(pool, q, width, tokens, 512, shape, &out, width) }
        let operations = (0..<512).reduce(0) { $0 + 4 * heads * dim * (2049 + $1) }
        print(
            "attention, 12/2 heads of 128, \(String(cString: ck_type_name(type))): decoding at 4096 "
                + "\(rate(decoding / Double(layers) * 1e6)) us a layer, \(rate(Double(layers * 2 * bytes) / decoding / 1e9)) GB/s, "
                + "512 tokens at 2048 \(rate(Double(operations) / prompt / 1e9)) Gop/s")
    }
}

/// Bytes whose half-precision readings are all small numbers, whatever the block layout: no product overflows or becomes a
/// subnormal, which would be slow.
private func fillWithModestWeights(_ memory: UnsafeMutableRawPointer, bytes: Int) {
    let words = memory.assumingMemoryBound(to: UInt64.self)
    var state: UInt64 = 88_172_645_463_325_252
    for i in 0..<bytes / 8 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        words[i] = state & 0x33FF_33FF_33FF_33FF
    }
}

private func readingSpeed(_ pool: OpaquePointer, _ memory: UnsafeMutableRawPointer, bytes: Int) -> Double {
    let seconds = medianSeconds(runs: 5) {
        ck_pool_for(
            pool, Int64(bytes / pieceBytes),
            { context, index, _ in
                let vectors = (context! + Int(index) * pieceBytes).assumingMemoryBound(to: SIMD8<UInt64>.self)
                var sum = SIMD8<UInt64>()
                for i in 0..<pieceBytes / 64 { sum &+= vectors[i] }
                blackHole(sum.wrappedSum())
            }, memory)
    }
    return Double(bytes) / seconds / 1e9
}

/// So much that what a thread fetches ahead, and another one uses, does not count.
private let pieceBytes = 1 << 20

@inline(never) @_optimize(none) private func blackHole(_ value: UInt64) {}

private func medianSeconds(runs: Int, _ body: () -> Void) -> Double {
    body()
    let times = (0..<runs).map { _ in ContinuousClock().measure(body) / .seconds(1) }
    return times.sorted()[runs / 2]
}

private func rate(_ value: Double) -> String { String(format: "%.1f", value) }

extension String {
    fileprivate func padded(to width: Int) -> String {
        padding(toLength: max(width, count), withPad: " ", startingAt: 0)
    }
}
