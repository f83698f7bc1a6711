import Foundation
import Inference

/// `engine-speed MODEL [--prompt N,…] [--generate N] [--depth N,…] [--threads N] [--repeat N] [--chunk N]
/// [--cache-type f16|q8_0]`: tokens per second, as JSON on one line: `prefill` of N tokens into an empty context, one
/// value for each N, and `decode` of `generate` tokens behind a context of `depth` tokens, one value for each depth.
/// Medians of the repetitions, which decode behind the same context; a short run before them warms up.
func engineSpeed(_ arguments: [String]) async throws {
    let usage = MeasureError.usage(
        "engine-speed MODEL [--prompt N,...] [--generate N] [--depth N,...] [--threads N] [--repeat N] [--chunk N] "
            + "[--cache-type f16|q8_0]")
    guard let path = arguments.first else { throw usage }
    func options(_ name: String, _ fallback: Int) throws -> [Int] {
        guard let index = arguments.firstIndex(of: "--\(name)") else { return [fallback] }
        guard index + 1 < arguments.count else { throw usage }
        return try arguments[index + 1].split(separator: ",").map { text in
            guard let value = Int(text), value >= 0 else { throw usage }
            return value
        }
    }
    func option(_ name: String, _ fallback: Int) throws -> Int {
        guard let value = try options(name, fallback).last else { throw usage }
        return value
    }
    let prompts = try options("prompt", 512).filter { $0 > 0 }
    let depths = try options("depth", 0)
    let decoded = try option("generate", 128)
    let chunk = max(1, try option("chunk", 256))
    let cacheType = try cacheTypeOption(in: arguments)
    let repetitions = max(1, try option("repeat", 1))
    let transformer = try Transformer.load(
        URL(fileURLWithPath: path), threadCount: try option("threads", ProcessInfo.processInfo.activeProcessorCount))

    let clock = ContinuousClock()
    func seconds(_ body: () throws -> Void) rethrows -> Double {
        let start = clock.now
        try body()
        return (clock.now - start) / .seconds(1)
    }
    func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

    var warmup = try SpeedMeter(transformer, cacheType: cacheType, capacity: 64)
    try warmup.run(32, chunk: 32)
    try warmup.run(4, chunk: 1)

    let prefill = try prompts.map { prompt in
        median(
            try (0..<repetitions).map { _ in
                var meter = try SpeedMeter(transformer, cacheType: cacheType, capacity: prompt)
                return Double(prompt) / (try seconds { try meter.run(prompt, chunk: chunk) })
            })
    }
    let decode = try (decoded > 0 ? depths : []).map { depth in
        var meter = try SpeedMeter(transformer, cacheType: cacheType, capacity: depth + decoded)
        if depth > 0 { try meter.run(depth, chunk: chunk) }
        return median(
            try (0..<repetitions).map { _ in
                meter.rewind(to: depth)
                return Double(decoded) / (try seconds { try meter.run(decoded, chunk: 1) })
            })
    }
    print(
        """
        {"bytes_per_token": \(SpeedMeter.bytesPerToken(transformer)), \
        "products_per_token": \(SpeedMeter.productsPerToken(transformer)), "prefill": \(prefill), "decode": \(decode)}
        """)
}
