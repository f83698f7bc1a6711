import Tokenizers

/// Finds prompts that say what an earlier one said but for something at their beginning (a date, a name), so that all that
/// follows must be computed again. Nothing is wrong then, only slow, and hard to see. Only used for the trace.
struct ChangedBeginning {
    /// Earlier prompts, the latest last.
    private var prompts: [[TokenID]] = []

    private static let mostPrompts = 8
    /// Texts of so many tokens do not stand in two prompts by chance.
    private static let sampleCount = 48
    /// How far behind the change a sample is taken, to be clear of it.
    private static let distance = 16

    /// Notes a prompt, and says what is wrong with it.
    /// - Parameter cached: How many tokens of it need not be computed.
    mutating func note(_ prompt: [TokenID], cached: Int) -> String? {
        defer {
            prompts.append(prompt)
            if prompts.count > Self.mostPrompts { prompts.removeFirst() }
        }
        guard prompt.count - cached > Self.distance + Self.sampleCount else { return nil }
        for earlier in prompts.reversed() {
            let common = zip(earlier, prompt).prefix { $0 == $1 }.count
            let begin = common + Self.distance
            guard common <= cached + Self.distance, begin + Self.sampleCount <= earlier.count else { continue }
            let sample = earlier[begin..<begin + Self.sampleCount]
            let isFound = (common...(prompt.count - Self.sampleCount)).contains { start in
                prompt[start] == sample.first && prompt[start..<start + Self.sampleCount].elementsEqual(sample)
            }
            if isFound {
                return "The prompt is an earlier one but for a change after \(common) tokens, so that "
                    + "\(prompt.count - cached) of its \(prompt.count) tokens are computed again. What changes from turn "
                    + "to turn, such as a date or a name, belongs behind what stays."
            }
        }
        return nil
    }
}
