import Foundation
import Inference

/// `engine-speed MODEL [--prompt N] [--generate N] [--depth N] [--threads N] [--repeat N]`: tokens per second, as JSON on one
/// line: prefill of N tokens into an empty context, and decoding of N tokens behind a context of `depth` tokens.
/// Medians of the repetitions; a short run before them warms up.
func engineSpeed(_ arguments: [String]) async throws {
    guard let path = arguments.first else {
        throw MeasureError.usage(
            "engine-speed MODEL [--prompt N] [--generate N] [--depth N] [--threads N] [--repeat N] [--chunk N]")
    }
    func option(_ name: String, _ fallback: Int) -> Int {
        guard let index = arguments.firstIndex(of: "--\(name)"), index + 1 < arguments.count else { return fallback }
        return Int(arguments[index + 1]) ?? fallback
    }
    let prefill = option("prompt", 512)
    let decode = option("generate", 128)
    let depth = option("depth", 0)
    let chunk = option("chunk", 256)
    let transformer = try Transformer.load(
        URL(fileURLWithPath: path), threadCount: option("threads", ProcessInfo.processInfo.activeProcessorCount))

    let clock = ContinuousClock()
    func seconds(_ body: () throws -> Void) rethrows -> Double {
        let start = clock.now
        try body()
        return (clock.now - start) / .seconds(1)
    }
    func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

    var warmup = try SpeedMeter(transformer, capacity: 64)
    try warmup.run(32, chunk: 32)
    try warmup.run(4, chunk: 1)

    var prefillRates: [Double] = []
    var decodeRates: [Double] = []
    for _ in 0..<max(1, option("repeat", 1)) {
        if prefill > 0 {
            var meter = try SpeedMeter(transformer, capacity: prefill)
            prefillRates.append(Double(prefill) / (try seconds { try meter.run(prefill, chunk: chunk) }))
        }
        if decode > 0 {
            var meter = try SpeedMeter(transformer, capacity: depth + decode)
            if depth > 0 { try meter.run(depth, chunk: chunk) }
            decodeRates.append(Double(decode) / (try seconds { try meter.run(decode, chunk: 1) }))
        }
    }
    var fields = ["\"bytes_per_token\": \(SpeedMeter.bytesPerToken(transformer))"]
    if !prefillRates.isEmpty { fields.append("\"prefill\": \(median(prefillRates))") }
    if !decodeRates.isEmpty { fields.append("\"decode\": \(median(decodeRates))") }
    print("{\(fields.joined(separator: ", "))}")
}
