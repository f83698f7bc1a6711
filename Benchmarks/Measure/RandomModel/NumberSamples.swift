import Foundation
import FoundationModels

let numberSamples: [any GuidedSample.Type] = [
    SmallInteger.self, NegativeInteger.self, MinimumInteger.self, MaximumInteger.self, AcrossZero.self,
    DoubleRange.self,
    FloatMinimum.self, DecimalRange.self, DoubleMaximum.self, NarrowDecimal.self,
]

@Generable struct SmallInteger {
    @Guide(.range(1...5)) var stars: Int
}

extension SmallInteger: GuidedSample {
    static var choices: Set<String> { numbered("", 1...5) }
    func inspect(_ report: inout SampleReport) {
        report.require((1...5).contains(stars), "\(stars)")
        report.saw("\(stars)")
    }
}

@Generable struct NegativeInteger {
    @Guide(.range(-12 ... -9)) var depth: Int
}

extension NegativeInteger: GuidedSample {
    static var choices: Set<String> { ["-12", "-11", "-10", "-9"] }
    func inspect(_ report: inout SampleReport) {
        report.require((-12 ... -9).contains(depth), "\(depth)")
        report.saw("\(depth)")
    }
}

@Generable struct MinimumInteger {
    @Guide(.minimum(97)) var count: Int
}

extension MinimumInteger: GuidedSample {
    static var choices: Set<String> { ["two digits", "more"] }
    func inspect(_ report: inout SampleReport) {
        report.require(count >= 97, "\(count)")
        report.saw(count < 100 ? "two digits" : "more")
    }
}

@Generable struct MaximumInteger {
    @Guide(.maximum(-3)) var balance: Int
}

extension MaximumInteger: GuidedSample {
    static var choices: Set<String> { ["one digit", "more"] }
    func inspect(_ report: inout SampleReport) {
        report.require(balance <= -3, "\(balance)")
        report.saw(balance > -10 ? "one digit" : "more")
    }
}

@Generable struct AcrossZero {
    @Guide(.range(-1...1)) var sign: Int
}

extension AcrossZero: GuidedSample {
    static var choices: Set<String> { ["-1", "0", "1"] }
    func inspect(_ report: inout SampleReport) {
        report.require(abs(sign) <= 1, "\(sign)")
        report.saw("\(sign)")
    }
}

@Generable struct DoubleRange {
    @Guide(.range(0.25...0.75)) var share: Double
}

extension DoubleRange: GuidedSample {
    static var choices: Set<String> { [] }
    func inspect(_ report: inout SampleReport) { report.require((0.25...0.75).contains(share), "\(share)") }
}

@Generable struct FloatMinimum {
    @Guide(.minimum(-0.5)) var level: Float
}

extension FloatMinimum: GuidedSample {
    static var choices: Set<String> { ["negative", "not negative"] }
    func inspect(_ report: inout SampleReport) {
        report.require(level >= -0.5, "\(level)")
        report.saw(level < 0 ? "negative" : "not negative")
    }
}

@Generable struct DecimalRange {
    @Guide(.range(Decimal(string: "9.95")!...Decimal(string: "10.05")!)) var price: Decimal
}

extension DecimalRange: GuidedSample {
    static var choices: Set<String> { ["below ten", "from ten"] }
    func inspect(_ report: inout SampleReport) {
        report.require(price >= Decimal(string: "9.95")! && price <= Decimal(string: "10.05")!, "\(price)")
        report.saw(price < 10 ? "below ten" : "from ten")
    }
}

@Generable struct DoubleMaximum {
    @Guide(.maximum(1e3)) var weight: Double
}

extension DoubleMaximum: GuidedSample {
    static var choices: Set<String> { ["whole", "fraction"] }
    func inspect(_ report: inout SampleReport) {
        report.require(weight <= 1000, "\(weight)")
        report.saw(weight == weight.rounded() ? "whole" : "fraction")
    }
}

@Generable struct NarrowDecimal {
    @Guide(.minimum(Decimal(string: "-0.02")!), .maximum(Decimal(string: "0.01")!)) var drift: Decimal
}

extension NarrowDecimal: GuidedSample {
    static var choices: Set<String> { [] }
    func inspect(_ report: inout SampleReport) {
        report.require(drift >= Decimal(string: "-0.02")! && drift <= Decimal(string: "0.01")!, "\(drift)")
    }
}
