import FoundationModels

let arraySamples: [any GuidedSample.Type] = [
    ExactCount.self, CountRange.self, MinimumCount.self, MaximumCount.self, BoundedElements.self, ChosenElements.self,
    PatternElements.self, OptionalArray.self,
]

@Generable struct ExactCount {
    @Guide(.count(3)) var flags: [Bool]
}

extension ExactCount: GuidedSample {
    static var choices: Set<String> { ["true", "false"] }
    func inspect(_ report: inout SampleReport) {
        report.require(flags.count == 3, "\(flags)")
        for flag in flags { report.saw("\(flag)") }
    }
}

@Generable struct CountRange {
    @Guide(.count(1...3)) var flags: [Bool]
}

extension CountRange: GuidedSample {
    static var choices: Set<String> { numbered("count ", 1...3) }
    func inspect(_ report: inout SampleReport) {
        report.require((1...3).contains(flags.count), "\(flags)")
        report.saw("count \(flags.count)")
    }
}

@Generable struct MinimumCount {
    @Guide(.minimumCount(2)) var flags: [Bool]
}

extension MinimumCount: GuidedSample {
    static var choices: Set<String> { ["two", "more"] }
    func inspect(_ report: inout SampleReport) {
        report.require(flags.count >= 2, "\(flags)")
        report.saw(flags.count == 2 ? "two" : "more")
    }
}

@Generable struct MaximumCount {
    @Guide(.maximumCount(2)) var flags: [Bool]
}

extension MaximumCount: GuidedSample {
    static var choices: Set<String> { numbered("count ", 0...2) }
    func inspect(_ report: inout SampleReport) {
        report.require(flags.count <= 2, "\(flags)")
        report.saw("count \(flags.count)")
    }
}

@Generable struct BoundedElements {
    @Guide(.count(2), .element(.range(1...3))) var dice: [Int]
}

extension BoundedElements: GuidedSample {
    static var choices: Set<String> { numbered("", 1...3) }
    func inspect(_ report: inout SampleReport) {
        report.require(dice.count == 2 && dice.allSatisfy((1...3).contains), "\(dice)")
        for die in dice { report.saw("\(die)") }
    }
}

@Generable struct ChosenElements {
    @Guide(.count(0...2), .element(.anyOf(["red", "green", "blue"]))) var colors: [String]
}

extension ChosenElements: GuidedSample {
    static var choices: Set<String> { numbered("count ", 0...2).union(["red", "green", "blue"]) }
    func inspect(_ report: inout SampleReport) {
        report.require(colors.count <= 2 && colors.allSatisfy(["red", "green", "blue"].contains), "\(colors)")
        report.saw("count \(colors.count)")
        for color in colors { report.saw(color) }
    }
}

@Generable struct PatternElements {
    @Guide(.count(1...2), .element(.pattern(/[xy]{2}/))) var pairs: [String]
}

extension PatternElements: GuidedSample {
    static var choices: Set<String> { ["xx", "xy", "yx", "yy", "count 1", "count 2"] }
    func inspect(_ report: inout SampleReport) {
        report.require((1...2).contains(pairs.count), "\(pairs)")
        report.require(pairs.allSatisfy { $0.wholeMatch(of: /[xy]{2}/) != nil }, "\(pairs)")
        report.saw("count \(pairs.count)")
        for pair in pairs { report.saw(pair) }
    }
}

@Generable struct OptionalArray {
    @Guide(.maximumCount(1)) var marks: [Bool]?
}

extension OptionalArray: GuidedSample {
    static var choices: Set<String> { ["absent", "count 0", "count 1"] }
    func inspect(_ report: inout SampleReport) {
        report.require((marks?.count ?? 0) <= 1, "\(marks ?? [])")
        report.saw(marks.map { "count \($0.count)" } ?? "absent")
    }
}
