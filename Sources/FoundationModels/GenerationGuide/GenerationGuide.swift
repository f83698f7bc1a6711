import Foundation
import JSON

/// A rule for a generated value beyond its type, kept by the decoder while it generates.
public struct GenerationGuide<Value> {
    /// What the guide asks for, in the terms of JSON Schema.
    package let constraints: [GuideConstraint]

    package init(_ constraints: GuideConstraint...) { self.constraints = constraints }

    fileprivate init(all constraints: [GuideConstraint]) { self.constraints = constraints }
}

extension GenerationGuide where Value == String {
    /// The string is this one.
    public static func constant(_ value: String) -> GenerationGuide<String> {
        GenerationGuide(.constant(value))
    }

    /// The string is one of these.
    public static func anyOf(_ values: [String]) -> GenerationGuide<String> {
        GenerationGuide(.anyOf(values))
    }

    /// The whole string matches a regular expression.
    public static func pattern<Output>(_ regex: Regex<Output>) -> GenerationGuide<String> {
        GenerationGuide(GuideConstraint(regex))
    }
}

extension GenerationGuide where Value == Int {
    /// The number is not less than this.
    public static func minimum(_ value: Int) -> GenerationGuide<Int> { GenerationGuide(.minimum(JSONNumber(value))) }

    /// The number is not greater than this.
    public static func maximum(_ value: Int) -> GenerationGuide<Int> { GenerationGuide(.maximum(JSONNumber(value))) }

    /// The number lies in a range, its ends included.
    public static func range(_ range: ClosedRange<Int>) -> GenerationGuide<Int> {
        GenerationGuide(.minimum(JSONNumber(range.lowerBound)), .maximum(JSONNumber(range.upperBound)))
    }
}

extension GenerationGuide where Value == Float {
    /// The number is not less than this.
    public static func minimum(_ value: Float) -> GenerationGuide<Float> {
        GenerationGuide(.minimum(value.generatedContent))
    }

    /// The number is not greater than this.
    public static func maximum(_ value: Float) -> GenerationGuide<Float> {
        GenerationGuide(.maximum(value.generatedContent))
    }

    /// The number lies in a range, its ends included.
    public static func range(_ range: ClosedRange<Float>) -> GenerationGuide<Float> {
        GenerationGuide(.minimum(range.lowerBound.generatedContent), .maximum(range.upperBound.generatedContent))
    }
}

extension GenerationGuide where Value == Decimal {
    /// The number is not less than this.
    public static func minimum(_ value: Decimal) -> GenerationGuide<Decimal> {
        GenerationGuide(.minimum(value.generatedContent))
    }

    /// The number is not greater than this.
    public static func maximum(_ value: Decimal) -> GenerationGuide<Decimal> {
        GenerationGuide(.maximum(value.generatedContent))
    }

    /// The number lies in a range, its ends included.
    public static func range(_ range: ClosedRange<Decimal>) -> GenerationGuide<Decimal> {
        GenerationGuide(.minimum(range.lowerBound.generatedContent), .maximum(range.upperBound.generatedContent))
    }
}

extension GenerationGuide where Value == Double {
    /// The number is not less than this.
    public static func minimum(_ value: Double) -> GenerationGuide<Double> {
        GenerationGuide(.minimum(value.generatedContent))
    }

    /// The number is not greater than this.
    public static func maximum(_ value: Double) -> GenerationGuide<Double> {
        GenerationGuide(.maximum(value.generatedContent))
    }

    /// The number lies in a range, its ends included.
    public static func range(_ range: ClosedRange<Double>) -> GenerationGuide<Double> {
        GenerationGuide(.minimum(range.lowerBound.generatedContent), .maximum(range.upperBound.generatedContent))
    }
}

extension GenerationGuide {
    /// The array has at least as many elements.
    public static func minimumCount<Element>(_ count: Int) -> GenerationGuide<[Element]> where Value == [Element] {
        GenerationGuide(.minimumCount(count))
    }

    /// The array has at most as many elements.
    public static func maximumCount<Element>(_ count: Int) -> GenerationGuide<[Element]> where Value == [Element] {
        GenerationGuide(.maximumCount(count))
    }

    /// The number of elements lies in a range, its ends included.
    public static func count<Element>(_ range: ClosedRange<Int>) -> GenerationGuide<[Element]>
    where Value == [Element] {
        GenerationGuide(.minimumCount(range.lowerBound), .maximumCount(range.upperBound))
    }

    /// The array has exactly as many elements.
    public static func count<Element>(_ count: Int) -> GenerationGuide<[Element]> where Value == [Element] {
        GenerationGuide(.minimumCount(count), .maximumCount(count))
    }

    /// Every element of the array keeps to a guide.
    public static func element<Element>(_ guide: GenerationGuide<Element>) -> GenerationGuide<[Element]>
    where Value == [Element] {
        GenerationGuide<[Element]>(all: guide.constraints.map(GuideConstraint.element))
    }
}

// The arguments of a macro are type-checked on their own, where `@Guide(.count(3))` says nothing of the type of the elements.
// These overloads give it one. What runs is the macro's expansion, in which the property's type decides.
extension GenerationGuide where Value == [Never] {
    @_documentation(visibility: private)
    public static func minimumCount(_ count: Int) -> GenerationGuide<Value> {
        GenerationGuide(.minimumCount(count))
    }

    @_documentation(visibility: private)
    public static func maximumCount(_ count: Int) -> GenerationGuide<Value> {
        GenerationGuide(.maximumCount(count))
    }

    @_documentation(visibility: private)
    public static func count(_ range: ClosedRange<Int>) -> GenerationGuide<Value> {
        GenerationGuide(.minimumCount(range.lowerBound), .maximumCount(range.upperBound))
    }

    @_documentation(visibility: private)
    @_disfavoredOverload
    public static func count(_ count: Int) -> GenerationGuide<Value> {
        GenerationGuide(.minimumCount(count), .maximumCount(count))
    }
}
