import FoundationModels

let textSamples: [any GuidedSample.Type] = [
    FixedText.self, TextChoice.self, AwkwardChoice.self, TwoChoices.self, CodePattern.self, WordPattern.self,
    ClockPattern.self, OptionalText.self, FlagPattern.self, UnicodePattern.self,
]

@Generable struct FixedText {
    @Guide(.constant("fixed \"text\" – é")) var text: String
}

extension FixedText: GuidedSample {
    static var choices: Set<String> { [] }
    func inspect(_ report: inout SampleReport) { report.require(text == "fixed \"text\" – é", text) }
}

@Generable struct TextChoice {
    @Guide(description: "A city", .anyOf(["London", "New York", "Paris"])) var city: String
}

extension TextChoice: GuidedSample {
    static var choices: Set<String> { ["London", "New York", "Paris"] }
    func inspect(_ report: inout SampleReport) {
        report.require(Self.choices.contains(city), city)
        report.saw(city)
    }
}

@Generable struct AwkwardChoice {
    @Guide(.anyOf(["a", "ab", "", "\n", "\\", "日本", "🙂", "a\"b"])) var text: String
}

extension AwkwardChoice: GuidedSample {
    static var choices: Set<String> { ["a", "ab", "", "\n", "\\", "日本", "🙂", "a\"b"] }
    func inspect(_ report: inout SampleReport) {
        report.require(Self.choices.contains(text), text)
        report.saw(text)
    }
}

@Generable struct TwoChoices {
    @Guide(.anyOf(["x", "y"])) var first: String
    @Guide(.anyOf(["x", "z"])) var second: String
}

extension TwoChoices: GuidedSample {
    static var choices: Set<String> { ["xx", "xz", "yx", "yz"] }
    func inspect(_ report: inout SampleReport) {
        report.require(Self.choices.contains(first + second), first + second)
        report.saw(first + second)
    }
}

@Generable struct CodePattern {
    @Guide(/[A-C]{2}-\d{3}/) var code: String
}

extension CodePattern: GuidedSample {
    static var choices: Set<String> { ["A", "B", "C"] }
    func inspect(_ report: inout SampleReport) {
        report.require(code.wholeMatch(of: /[A-C]{2}-[0-9]{3}/) != nil, code)
        report.saw(String(code.prefix(1)))
    }
}

@Generable struct WordPattern {
    @Guide(.pattern(/(cat|dog|bird)s?/)) var word: String
}

extension WordPattern: GuidedSample {
    static var choices: Set<String> { ["cat", "cats", "dog", "dogs", "bird", "birds"] }
    func inspect(_ report: inout SampleReport) {
        report.require(Self.choices.contains(word), word)
        report.saw(word)
    }
}

@Generable struct ClockPattern {
    @Guide(/([01][0-9]|2[0-3]):[0-5][0-9]/) var time: String
}

extension ClockPattern: GuidedSample {
    static var choices: Set<String> { ["0", "1", "2"] }
    func inspect(_ report: inout SampleReport) {
        report.require(time.wholeMatch(of: /([01][0-9]|2[0-3]):[0-5][0-9]/) != nil, time)
        report.saw(String(time.prefix(1)))
    }
}

@Generable struct OptionalText {
    @Guide(.anyOf(["here"])) var text: String?
    var flag: Bool
}

extension OptionalText: GuidedSample {
    static var choices: Set<String> { ["absent", "present", "true", "false"] }
    func inspect(_ report: inout SampleReport) {
        report.require(text == nil || text == "here", text ?? "")
        report.saw(text == nil ? "absent" : "present")
        report.saw("\(flag)")
    }
}

@Generable struct FlagPattern {
    @Guide(.pattern(/[^a-z\s"\\]{1,3}/)) var mark: String
}

extension FlagPattern: GuidedSample {
    static var choices: Set<String> { ["length 1", "length 2", "length 3"] }
    func inspect(_ report: inout SampleReport) {
        report.require(mark.wholeMatch(of: /[^a-z\s"\\]{1,3}/.matchingSemantics(.unicodeScalar)) != nil, mark)
        report.saw("length \(mark.unicodeScalars.count)")
    }
}

@Generable struct UnicodePattern {
    @Guide(.pattern(/\p{Lu}\p{Ll}{1,2}/)) var name: String
}

extension UnicodePattern: GuidedSample {
    static var choices: Set<String> { ["length 2", "length 3"] }
    func inspect(_ report: inout SampleReport) {
        report.require(name.wholeMatch(of: /\p{Lu}\p{Ll}{1,2}/.matchingSemantics(.unicodeScalar)) != nil, name)
        report.saw("length \(name.unicodeScalars.count)")
    }
}
