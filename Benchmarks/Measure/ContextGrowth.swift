import Foundation
import Inference

/// `context-growth MODEL [--context N] [--step N] [--decode N] [--threads N] [--cache-type f16|q8_0]`:
/// the time of a token at growing depths of context. One line of JSON for each step: the depth, the seconds of a prompt's token
/// on the way there and of a generated token there.
func measureContextGrowth(_ arguments: [String]) async throws {
    guard let path = arguments.first else {
        throw MeasureError.usage(
            "context-growth MODEL [--context N] [--step N] [--decode N] [--threads N] "
                + "[--cache-type f16|q8_0]")
    }
    func number(_ name: String, _ fallback: Int) -> Int {
        max(1, option(name, in: arguments).flatMap { Int($0) } ?? fallback)
    }
    let context = number("context", 32_768)
    let step = number("step", 2048)
    let decode = number("decode", 4)
    let transformer = try Transformer.load(
        URL(fileURLWithPath: path), threadCount: number("threads", ProcessInfo.processInfo.activeProcessorCount))
    var warmup = try SpeedMeter(transformer, capacity: 64)
    try warmup.run(32, chunk: 32)
    let clock = ContinuousClock()
    var meter = try SpeedMeter(transformer, cacheType: try cacheTypeOption(in: arguments), capacity: context)
    var depth = 0
    while depth < context {
        let target = min(context, depth + step)
        let prompt = target - depth - decode
        guard prompt > 0 else { break }
        let start = clock.now
        try meter.run(prompt, chunk: 256)
        let read = clock.now
        try meter.run(decode, chunk: 1)
        let end = clock.now
        depth = target
        print(
            "{\"depth\": \(depth), \"prefill\": \(seconds(read - start) / Double(prompt)), "
                + "\"decode\": \(seconds(end - read) / Double(decode))}")
    }
}
