import FoundationModels

let structureSamples: [any GuidedSample.Type] = [
    Nested.self, Chain.self, Tree.self, AllOptional.self, ExplicitNil.self, Mixed.self,
]

@Generable struct Nested {
    @Generable struct Inner {
        @Guide(.range(0...2)) var number: Int
        var season: Season
    }

    var first: Inner
    var second: Inner
}

extension Nested: GuidedSample {
    static var choices: Set<String> { numbered("", 0...2).union(Season.choices) }
    func inspect(_ report: inout SampleReport) {
        for inner in [first, second] {
            report.require((0...2).contains(inner.number), "\(inner)")
            report.saw("\(inner.number)")
            report.saw("\(inner.season)")
        }
    }
}

@Generable struct Chain {
    var flag: Bool
    @Guide(.maximumCount(1)) var rest: [Chain]
}

extension Chain: GuidedSample {
    static var choices: Set<String> { ["end", "link"] }
    func inspect(_ report: inout SampleReport) {
        report.require(rest.count <= 1, "\(rest.count)")
        report.saw(rest.isEmpty ? "end" : "link")
        for link in rest { link.inspect(&report) }
    }
}

@Generable struct Tree {
    @Guide(.anyOf(["leaf", "fork"])) var kind: String
    @Guide(.maximumCount(2)) var children: [Tree]?
}

extension Tree: GuidedSample {
    static var choices: Set<String> { ["leaf", "fork", "no children", "children 0", "children 1"] }
    func inspect(_ report: inout SampleReport) {
        report.require(["leaf", "fork"].contains(kind) && (children?.count ?? 0) <= 2, kind)
        report.saw(kind)
        report.saw(children.map { "children \($0.count)" } ?? "no children")
        for child in children ?? [] { child.inspect(&report) }
    }
}

@Generable struct AllOptional {
    var first: Bool?
    @Guide(.range(7...8)) var second: Int?
    var third: Season?
}

extension AllOptional: GuidedSample {
    static var choices: Set<String> { numbered("present ", 0...3) }
    func inspect(_ report: inout SampleReport) {
        report.require(second == nil || (7...8).contains(second!), "\(second!)")
        report.saw("present \([first != nil, second != nil, third != nil].count { $0 })")
    }
}

@Generable(representNilExplicitlyInGeneratedContent: true) struct ExplicitNil {
    var flag: Bool?
    var season: Season?
}

extension ExplicitNil: GuidedSample {
    static var choices: Set<String> { ["flag", "no flag", "season", "no season"] }
    func inspect(_ report: inout SampleReport) {
        report.saw(flag == nil ? "no flag" : "flag")
        report.saw(season == nil ? "no season" : "season")
    }
}

@Generable(description: "Everything at once") struct Mixed {
    @Guide(description: "A level", .range(1...3)) var level: Int
    @Guide(.anyOf(["up", "down"])) var direction: String
    @Guide(/[0-9]{2}/) var digits: String
    @Guide(.count(1...2)) var seasons: [Season]
    var shape: Shape?
}

extension Mixed: GuidedSample {
    static var choices: Set<String> {
        numbered("level ", 1...3).union(["up", "down", "shape", "no shape", "seasons 1", "seasons 2"])
    }
    func inspect(_ report: inout SampleReport) {
        report.require((1...3).contains(level) && ["up", "down"].contains(direction), "\(level) \(direction)")
        report.require(digits.wholeMatch(of: /[0-9]{2}/) != nil, digits)
        report.require((1...2).contains(seasons.count), "\(seasons)")
        report.saw("level \(level)")
        report.saw(direction)
        report.saw("seasons \(seasons.count)")
        report.saw(shape == nil ? "no shape" : "shape")
    }
}
