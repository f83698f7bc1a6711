import Foundation
import Inference
import Tokenizers

/// `memory MODEL [--context N] [--cache-type f16|q8_0]`: peak memory of this process in bytes after a prompt and an
/// answer that fill the context, beside the sizes of the file and of the key-value cache, as JSON on one line.
func memory(_ arguments: [String]) async throws {
    guard let path = arguments.first else {
        throw MeasureError.usage("memory MODEL [--context N] [--cache-type f16|q8_0]")
    }
    var context = 4096
    if let flag = arguments.firstIndex(of: "--context"), flag + 1 < arguments.count {
        context = Int(arguments[flag + 1]) ?? context
    }
    let options = EngineOptions(contextSize: context, cacheType: try cacheTypeOption(in: arguments))
    let engine = try Engine.load(URL(fileURLWithPath: path), options: options)
    let description = engine.description
    let answer = 32
    let prompt = (0..<context - answer).map { TokenID($0 * 7919 % description.vocabularySize) }
    // Every token of the vocabulary is sampled from, and none ends the answer early.
    let sampling = Sampling(mode: .topP(0.9), temperature: 1, seed: 1)
    var usage: GenerationUsage?
    for try await event in engine.generate(GenerationRequest(prompt: prompt, sampling: sampling, maximumTokens: answer))
    {
        if case .finished(_, let counts) = event { usage = counts }
    }
    guard let usage else { throw MeasureError.usage("memory: the model gave no answer") }
    print(
        """
        {"peak": \(try residentBytes("VmHWM")), "file": \(description.fileSize), \
        "cache": \(description.cacheBytesPerToken * context), "prompt_tokens": \(usage.promptTokens), \
        "generated_tokens": \(usage.generatedTokens)}
        """)
}
