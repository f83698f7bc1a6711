import Foundation
import FoundationModels

@Generable(description: "A plan for a short trip")
struct Trip {
    @Guide(description: "A title of a few words")
    var title: String
    @Guide(description: "The days in their order", .count(2))
    var days: [Day]
    @Guide(description: "What it costs for one person, in euros", .range(50...2000))
    var cost: Int
}

@Generable
struct Day {
    @Guide(description: "What to see in the morning, in a few words")
    var morning: String
    @Guide(description: "What to do in the evening, in a few words")
    var evening: String
    var walking: Effort
}

@Generable
enum Effort: String {
    case little = "a little"
    case some
    case much = "a lot"
}

/// Plans a trip and shows the plan while it grows.
@main
struct TripSummary {
    static func main() async throws {
        let place = CommandLine.arguments.dropFirst().first ?? "Lisbon"
        let session = LanguageModelSession(instructions: "You plan short trips. Be concrete and brief.")
        let stream = session.streamResponse(to: "Plan two days in \(place).", generating: Trip.self)
        var shown = 0
        for try await snapshot in stream {
            // Every property is there as soon as it has begun, and stays nil until then.
            let lines = text(of: snapshot.content).split(separator: "\n", omittingEmptySubsequences: true)
            // The last line may still grow; the ones before it are done.
            for line in lines.dropLast().dropFirst(shown) { print(line) }
            shown = max(shown, lines.count - 1)
        }
        let trip = try await stream.collect().content
        print("For about \(trip.cost) euros a person.")
    }

    static func text(of trip: Trip.PartiallyGenerated) -> String {
        var lines = [trip.title ?? ""]
        for (number, day) in (trip.days ?? []).enumerated() {
            if let morning = day.morning { lines.append("Day \(number + 1), morning: \(morning)") }
            if let evening = day.evening { lines.append("Day \(number + 1), evening: \(evening)") }
            if let walking = day.walking { lines.append("Day \(number + 1), walking: \(walking.rawValue)") }
        }
        if trip.cost != nil { lines.append("") }
        return lines.joined(separator: "\n")
    }
}
