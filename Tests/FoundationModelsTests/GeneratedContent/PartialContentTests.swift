import Foundation
import FoundationModels
import JSON
import Testing

@Generable
struct Trip: Equatable {
    var title: String
    var days: Int
    var price: Double
    var confirmed: Bool
    var mood: Mood
    var stops: [Stop]
    var scores: [Int]
    var plan: Plan?
    var note: String?

    @Generable
    enum Mood: String {
        case calm
        case calmer
    }

    @Generable
    struct Stop: Equatable {
        var city: String
        var nights: Int
    }

    @Generable
    enum Plan: Equatable {
        case train(line: String, minutes: Int)
        case none
    }
}

@Suite("Content that is still being generated")
struct PartialContentTests {
    private static let trip = Trip(
        title: "Ünï \"quoted\" 🙂", days: 12, price: -3.25, confirmed: true, mood: .calmer,
        stops: [.init(city: "Sofia", nights: 2), .init(city: "Берлин", nights: 10)], scores: [10, 20],
        plan: .train(line: "RE1", minutes: 95), note: "end")

    @Test("A broken off text gives what has come of it")
    func beginning() throws {
        let content = try GeneratedContent(json: #"{"title": "A story of"#)
        #expect(try content.value(String.self, forProperty: "title") == "A story of")
        #expect(!content.isComplete)
        #expect(content.jsonString == #"{"title": "A story of"}"#)
    }

    @Test("Everything but the open tail is complete")
    func openTail() throws {
        let content = try GeneratedContent(json: #"{"a": [1, {"x": "y"}], "b": {"c": [{"d": "op"#)
        func isComplete(_ path: String...) throws -> Bool {
            var content = content
            for step in path {
                switch content.kind {
                case .array(let elements): content = elements[try #require(Int(step))]
                case .structure(let properties, _): content = try #require(properties[step])
                default: Issue.record("no \(step) in \(content)")
                }
            }
            return content.isComplete
        }
        #expect(try !isComplete())
        #expect(try isComplete("a"))
        #expect(try isComplete("a", "1", "x"))
        #expect(try !isComplete("b"))
        #expect(try !isComplete("b", "c"))
        #expect(try !isComplete("b", "c", "0"))
        #expect(try !isComplete("b", "c", "0", "d"))
    }

    @Test(
        "A number may go on until something follows it",
        arguments: [
            ("[1", false), ("[1 ", true), ("[1,", true), (#"{"a": 12"#, false), (#"{"a": 12,"#, true), ("12", true),
        ])
    func numbers(_ json: String, _ isWhole: Bool) throws {
        let content = try GeneratedContent(json: json)
        switch content.kind {
        case .array(let elements): #expect(elements[0].isComplete == isWhole)
        case .structure(let properties, _): #expect(properties["a"]?.isComplete == isWhole)
        default: #expect(content.isComplete == isWhole)
        }
    }

    /// The output of a model, one more byte at a time: what is shown never turns out to be wrong.
    @Test("No snapshot shows a value that the whole does not have")
    func everyPrefix() throws {
        let whole = Self.trip
        let bytes = Array(whole.generatedContent.jsonString.utf8)
        let id = GenerationID()
        var last: Trip.PartiallyGenerated?
        var snapshots = 0
        for count in 1...bytes.count {
            // Only whole characters reach a stream.
            guard let text = String(validating: bytes[..<count], as: UTF8.self) else { continue }
            let content = try GeneratedContent(json: text, id: id)
            let partial = try Trip.PartiallyGenerated(content)
            snapshots += 1
            #expect(content.isComplete == (count == bytes.count))
            #expect(partial.id == id)
            #expect(partial.title.map(whole.title.hasPrefix) ?? true, "\(text)")
            #expect(partial.days == nil || partial.days == whole.days, "\(text)")
            #expect(partial.price == nil || partial.price == whole.price, "\(text)")
            #expect(partial.confirmed == nil || partial.confirmed == whole.confirmed, "\(text)")
            #expect(partial.mood == nil || partial.mood == whole.mood, "\(text)")
            #expect(partial.scores.map(whole.scores.starts(with:)) ?? true, "\(text)")
            #expect(partial.note.map(whole.note!.hasPrefix) ?? true, "\(text)")
            for (index, stop) in (partial.stops ?? []).enumerated() {
                #expect(stop.city.map(whole.stops[index].city.hasPrefix) ?? true, "\(text)")
                #expect(stop.nights == nil || stop.nights == whole.stops[index].nights, "\(text)")
                // The same element has the same identity in every snapshot.
                if let earlier = last?.stops, index < earlier.count { #expect(earlier[index].id == stop.id) }
            }
            if case .train(let line, let minutes)? = partial.plan {
                #expect(line.map("RE1".hasPrefix) ?? true)
                #expect(minutes == nil || minutes == 95)
            } else {
                #expect(partial.plan == nil, "\(text)")
            }
            // What has been shown stays.
            if let last {
                #expect(last.days == nil || partial.days != nil)
                #expect((last.stops?.count ?? 0) <= (partial.stops?.count ?? 0))
            }
            last = partial
        }
        #expect(snapshots > 200)
        #expect(last?.stops?.count == 2 && last?.stops?[0].id != last?.stops?[1].id)
        #expect(last?.note == "end" && last?.mood == .calmer && last?.days == 12)
    }

    @Test("What breaks off is no whole value")
    func brokenOff() throws {
        func error(_ json: String) -> String? {
            do {
                _ = try Trip.Stop(GeneratedContent(json: json))
                return nil
            } catch {
                return (error as? GeneratedContent.ParsingError)?.debugDescription
            }
        }
        #expect(error(#"{"city": "So"#) == "GeneratedContent does not contain a property 'nights'.")
        #expect(error(#"{"city": "Sofia", "nights": 1"#) == "GeneratedContent ends before it is an integer.")
        #expect(throws: GeneratedContent.ParsingError.self) { try Trip.Mood(GeneratedContent(json: #""calm"#)) }
        #expect(throws: GeneratedContent.ParsingError.self) {
            try Trip.Plan(GeneratedContent(json: #"{"type": "none"#))
        }
        #expect(try [Int](GeneratedContent(json: "[1, 2")) == [1])
    }

    @Test("A whole value as a partial one")
    func asPartial() {
        let partial = Self.trip.asPartiallyGenerated()
        #expect(partial.title == Self.trip.title && partial.stops?.count == 2 && partial.note == "end")
        #expect([1, 2].asPartiallyGenerated() == [1, 2])
        #expect("a".asPartiallyGenerated() == "a")
        #expect([Self.trip].asPartiallyGenerated().first?.days == 12)
        #expect(Double.nan.asPartiallyGenerated().isNaN)
    }
}
