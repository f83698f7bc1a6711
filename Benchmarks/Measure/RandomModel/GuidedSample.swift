import FoundationModels

/// A type that the random model makes values of: it tells whether a value keeps the type's guides, and which of the choices
/// that its schema leaves open the value shows.
protocol GuidedSample: Generable {
    /// Every choice that must be seen in enough values.
    static var choices: Set<String> { get }

    func inspect(_ report: inout SampleReport)
}

/// What one value, or many, showed.
struct SampleReport {
    private(set) var faults: [String] = []
    private(set) var seen: Set<String> = []

    mutating func require(_ condition: Bool, _ fault: @autoclosure () -> String) {
        if !condition { faults.append(fault()) }
    }

    mutating func saw(_ choice: String) { seen.insert(choice) }

    mutating func merge(_ other: SampleReport) {
        faults += other.faults
        seen.formUnion(other.seen)
    }
}

/// The names `prefix0` to `prefixN` of a range of lengths or numbers.
func numbered(_ prefix: String, _ range: ClosedRange<Int>) -> Set<String> { Set(range.map { "\(prefix)\($0)" }) }

let guidedSamples: [any GuidedSample.Type] =
    textSamples + numberSamples + arraySamples + enumSamples + structureSamples
