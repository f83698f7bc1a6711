import FoundationModels

let enumSamples: [any GuidedSample.Type] = [
    Season.self, Grade.self, Level.self, Shape.self, Answer.self, SeasonHolder.self,
]

@Generable enum Season: CaseIterable {
    case spring, summer, autumn, winter
}

extension Season: GuidedSample {
    static var choices: Set<String> { Set(allCases.map { "\($0)" }) }
    func inspect(_ report: inout SampleReport) { report.saw("\(self)") }
}

@Generable enum Grade: String, CaseIterable {
    case best = "A+"
    case good = "A"
    case spaced = "not so good"
    case empty = ""
    case foreign = "добре"
}

extension Grade: GuidedSample {
    static var choices: Set<String> { Set(allCases.map(\.rawValue)) }
    func inspect(_ report: inout SampleReport) { report.saw(rawValue) }
}

@Generable enum Level: Int, CaseIterable {
    case low = 1
    case middle = 5
    case high = 10
}

extension Level: GuidedSample {
    static var choices: Set<String> { ["1", "5", "10"] }
    func inspect(_ report: inout SampleReport) { report.saw("\(rawValue)") }
}

@Generable enum Shape {
    case circle(radius: Bool)
    case rectangle(width: Season, height: Season)
    case point
}

extension Shape: GuidedSample {
    static var choices: Set<String> { ["circle", "rectangle", "point"] }
    func inspect(_ report: inout SampleReport) {
        switch self {
        case .circle: report.saw("circle")
        case .rectangle: report.saw("rectangle")
        case .point: report.saw("point")
        }
    }
}

@Generable indirect enum Answer {
    case known(Level)
    case asked(Season?)
}

extension Answer: GuidedSample {
    static var choices: Set<String> { ["known", "asked", "asked nothing"] }
    func inspect(_ report: inout SampleReport) {
        switch self {
        case .known: report.saw("known")
        case .asked(let season): report.saw(season == nil ? "asked nothing" : "asked")
        }
    }
}

@Generable struct SeasonHolder {
    var season: Season
    var other: Season?
}

extension SeasonHolder: GuidedSample {
    static var choices: Set<String> { Season.choices.union(["other absent", "other present"]) }
    func inspect(_ report: inout SampleReport) {
        report.saw("\(season)")
        report.saw(other == nil ? "other absent" : "other present")
    }
}
