import FoundationModels

/// Finds restaurants by cuisine.
struct FindRestaurants: Tool {
    let name = "findRestaurants"
    let description = "Finds restaurants that serve a cuisine."

    @Generable
    struct Arguments {
        @Guide(description: "The cuisine", .anyOf(["italian", "japanese", "indian"]))
        var cuisine: String
    }

    func call(arguments: Arguments) async throws -> String {
        switch arguments.cuisine {
        case "italian": "Trattoria Sole, Pasta Nostra"
        case "japanese": "Hanami, Sakura House"
        default: "Spice Garden"
        }
    }
}

/// Tells when a restaurant is open.
struct OpeningHours: Tool {
    let name = "openingHours"
    let description = "Tells the opening hours of one restaurant."

    @Generable
    struct Arguments {
        @Guide(description: "The name of the restaurant")
        var restaurant: String
    }

    func call(arguments: Arguments) async throws -> String {
        "\(arguments.restaurant) is open from 12:00 to 23:00 every day but Monday."
    }
}

/// Books a table.
struct BookTable: Tool {
    let name = "bookTable"
    let description = "Books a table at one restaurant."

    @Generable
    struct Arguments {
        @Guide(description: "The name of the restaurant")
        var restaurant: String
        @Guide(description: "How many guests", .range(1...12))
        var guests: Int
    }

    func call(arguments: Arguments) async throws -> String {
        "Booked a table for \(arguments.guests) at \(arguments.restaurant)."
    }
}

/// Answers a question about restaurants with three tools, and shows which the model called.
@main
struct RestaurantSearch {
    static func main() async throws {
        let question = CommandLine.arguments.dropFirst().first ?? "Which Italian restaurants are there?"
        let session = LanguageModelSession(
            tools: [FindRestaurants(), OpeningHours(), BookTable()],
            instructions: "You help people to find a restaurant. Use the tools; do not invent restaurants.")
        let response = try await session.respond(to: question)
        for entry in response.transcriptEntries {
            guard case .toolCalls(let calls) = entry else { continue }
            for call in calls { print("[\(call.toolName) \(call.arguments.jsonString)]") }
        }
        print(response.content)
    }
}
