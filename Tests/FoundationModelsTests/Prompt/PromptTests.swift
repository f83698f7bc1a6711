import Foundation
import FoundationModels
import Testing

@Generable
private struct Place {
    var city: String
}

@Suite("Prompts and instructions")
struct PromptTests {
    @Test("Blocks with values, conditions and loops")
    func blocks() {
        let flag = true
        let absent: String? = nil
        let prompt = Prompt {
            "first"
            if flag { "yes" } else { "no" }
            if !flag { "never" }
            for number in 1...2 { "number \(number)" }
            if let absent { absent }
            switch flag {
            case true: "on"
            case false: "off"
            }
            Prompt("inner")
            3
            true
        }
        #expect(prompt.parts == [.text("first\nyes\nnumber 1\nnumber 2\non\ninner\n3\ntrue")])
    }

    @Test("Structured values stand by themselves")
    func structures() {
        let place = Place(city: "Sofia")
        let prompt = Prompt {
            "before"
            place
            "after"
        }
        #expect(prompt.parts == [.text("before"), .structure(place.generatedContent), .text("after")])
        let instructions = Instructions {
            "before"
            place
            ["a", "b"]
        }
        #expect(instructions.parts == [.text("before"), .structure(place.generatedContent), .text("a\nb")])
        #expect(Prompt([place, place]).parts.count == 2)
    }

    @Test("Nothing")
    func nothing() {
        #expect(Prompt {}.parts == [])
        #expect(Instructions {}.parts == [])
        #expect(Prompt(Optional<Int>.none).parts == [])
        #expect(Prompt([] as [String]).parts == [])
        #expect(Prompt("").parts == [.text("")])
    }

    @Test("What a value is in a prompt")
    func values() throws {
        #expect(Prompt("a").parts == [.text("a")])
        #expect(Prompt(1.5).parts == [.text("1.5")])
        #expect(Prompt(Decimal(3)).parts == [.text("3")])
        #expect(Prompt(Optional(3)).parts == [.text("3")])
        #expect(Prompt([1, 2]).parts == [.text("1\n2")])
        #expect(Prompt(StringEnum.one).parts == [.text("number one")])
        #expect(Prompt(GeneratedContent("x")).parts == [.text("x")])
        #expect(try Prompt(GeneratedContent(json: "[1]")).parts == [.structure(GeneratedContent([1]))])
    }

    @Test("An error in a block is passed on")
    func errors() {
        struct Refused: Error {}
        func fail() throws -> String { throw Refused() }
        #expect(throws: Refused.self) { try Prompt { try fail() } }
        #expect(throws: Refused.self) { try Instructions { try fail() } }
    }
}
