import Foundation
import Inference
import JSON

extension Command {
    package static let bench = Command(
        name: "bench",
        summary: "Measure how fast a model computes here.",
        usage: ["[OPTION ...]"],
        options: [
            .model,
            Option(
                "--prompt", "-p", value: "N", isRepeatable: true,
                help: "Measure reading a prompt of N tokens; 512 and 2048 unless given; 0 for none."),
            Option(
                "--generate", "-n", value: "N", help: "Measure generating N tokens; 128 unless given; 0 for none."),
            Option(
                "--depth", "-d", value: "N", isRepeatable: true,
                help: "Generate behind a context of N tokens; 0 and 2048 unless given."),
            Option("--threads", "-t", value: "N", help: "How many threads compute; all processors unless given."),
            .cacheType,
            Option("--repeat", "-r", value: "N", help: "How many times each is measured; 3 unless given."),
            Option("--json", help: "Write the outcome as JSON."),
            .noPull,
        ],
        discussion: """
            The table is Markdown, with tests named as llama-bench names them: pp512 reads a prompt of 512
            tokens, tg128 @ d2048 generates 128 tokens behind 2,048. Medians, with the least and the most.
            """
    ) { arguments, context in
        let limit = 1 << 20
        func counts(_ name: String, _ fallback: [Int]) throws(UsageError) -> [Int] {
            guard arguments.has(name) else { return fallback }
            var counts: [Int] = []
            for text in arguments.values(name) {
                guard let count = Int(text), (0...limit).contains(count) else {
                    throw UsageError("\(name) takes a whole number, 0 to \(limit), not '\(text)'")
                }
                if !counts.contains(count) { counts.append(count) }
            }
            return counts
        }
        let prompts = try counts("--prompt", [512, 2048]).filter { $0 > 0 }
        let depths = try counts("--depth", [0, 2048])
        let generated = try arguments.integer("--generate", in: 0...limit) ?? 128
        let threads = try arguments.integer("--threads", in: 1...64) ?? ProcessorDescription.count
        let cacheType = try arguments.cacheType(context)
        let rounds = try arguments.integer("--repeat", in: 1...1000) ?? 3
        let tests =
            prompts.map { SpeedTest(kind: .prompt, count: $0, depth: 0) }
            + (generated > 0 ? depths.map { SpeedTest(kind: .generation, count: generated, depth: $0) } : [])
        guard !tests.isEmpty else { throw UsageError("nothing to measure: --prompt and --generate are both 0") }

        let file = try await ModelChoice(context: context, arguments: arguments).find()
        // Nothing is lost when a signal ends the program at once.
        let report = try await SpeedReport.measure(
            file, tests, threads: threads, cacheType: cacheType, rounds: rounds,
            progress: { context.messages.line("fm: \($0)") })
        context.output.write(arguments.has("--json") ? report.json + "\n" : report.text)
    }
}

/// One measurement of `fm bench`.
struct SpeedTest: Hashable, Sendable {
    enum Kind: Sendable {
        case prompt
        case generation
    }

    var kind: Kind
    var count: Int
    /// The tokens of context before.
    var depth: Int

    var name: String {
        (kind == .prompt ? "pp\(count)" : "tg\(count)") + (depth > 0 ? " @ d\(depth)" : "")
    }
}

/// The outcome of `fm bench`.
struct SpeedReport: Sendable {
    struct Row: Sendable {
        var test: SpeedTest
        /// Tokens per second, in ascending order.
        var rates: [Double]

        var median: Double { rates[rates.count / 2] }
    }

    var model: ModelStore.Model
    var parameterCount: Int
    var threads: Int
    var cacheType: CacheType
    var rows: [Row]

    /// Measures beside the caller's task.
    static func measure(
        _ model: ModelStore.Model, _ tests: [SpeedTest], threads: Int, cacheType: CacheType, rounds: Int,
        progress: @escaping @Sendable (String) -> Void
    ) async throws -> SpeedReport {
        try await Task.detached(priority: .high) { () throws -> SpeedReport in
            progress("loading \(model.name)")
            let transformer = try Transformer.load(model.url, threadCount: threads)
            for test in tests where test.count + test.depth > transformer.configuration.trainedContextSize {
                throw UsageError(
                    "\(test.name) needs \(test.count + test.depth) tokens of context; the model has "
                        + "\(transformer.configuration.trainedContextSize)")
            }
            var warmup = try SpeedMeter(transformer, cacheType: cacheType, capacity: 64)
            try warmup.run(32, chunk: 32)
            try warmup.run(4, chunk: 1)
            var rates = [[Double]](repeating: [], count: tests.count)
            for round in 1...rounds {
                // One round of all before the next, so that what else the machine does falls on all alike.
                for (index, test) in tests.enumerated() {
                    progress("\(test.name), \(round) of \(rounds)")
                    var meter = try SpeedMeter(
                        transformer, cacheType: cacheType, capacity: test.depth + test.count)
                    if test.depth > 0 { try meter.run(test.depth, chunk: 256) }
                    let start = ContinuousClock.now
                    try meter.run(test.count, chunk: test.kind == .prompt ? 256 : 1)
                    rates[index].append(Double(test.count) / ((ContinuousClock.now - start) / .seconds(1)))
                }
            }
            return SpeedReport(
                model: model, parameterCount: SpeedMeter.parameterCount(transformer), threads: threads,
                cacheType: cacheType,
                rows: zip(tests, rates).map { Row(test: $0, rates: $1.sorted()) })
        }.value
    }

    private var machine: String {
        "\(ProcessorDescription.name), \(ProcessorDescription.count) processors, "
            + "\(ByteText.size(MachineMemory.total)) of memory, \(ProcessorDescription.instructionSet) kernels, "
            + "fm \(Command.packageVersion)"
    }

    var text: String {
        let parameters = String(format: "%.2f B", Double(parameterCount) * 1e-9)
        let table = TextTable(
            ["model", "size", "params", "threads", "cache", "test", "tokens/s", "least", "most"],
            rows.map { row in
                [
                    model.name, ByteText.size(model.size), parameters, "\(threads)", cacheType.rawValue, row.test.name,
                    String(format: "%.2f", row.median), String(format: "%.2f", row.rates.first!),
                    String(format: "%.2f", row.rates.last!),
                ]
            })
        return (table.markdown + ["", machine]).joined(separator: "\n") + "\n"
    }

    var json: String {
        JSONValue.object([
            "model": .string(model.name), "bytes": .number(JSONNumber(Int(model.size))),
            "parameters": .number(JSONNumber(parameterCount)), "threads": .number(JSONNumber(threads)),
            "cacheType": .string(cacheType.rawValue),
            "machine": .string(machine),
            "tests": .array(
                rows.map { row in
                    [
                        "test": .string(row.test.name), "count": .number(JSONNumber(row.test.count)),
                        "depth": .number(JSONNumber(row.test.depth)),
                        "tokensPerSecond": .array(row.rates.map { JSONValue(floatLiteral: $0) }),
                    ]
                }),
        ]).text(indent: 2)
    }
}
