// Every shape of type that has to compile with `@Generable`. GenerableShapesTests puts values through each of them.
import Foundation
import FoundationModels
import RegexBuilder

@Generable
struct PlainStruct: Equatable {
    var text: String
    let flag: Bool
    var whole: Int
    var single: Float
    var double: Double
    var exact: Decimal
    var list: [String]
    var maybe: Int?
    var maybeList: [Int]?
    var anything: GeneratedContent
}

@Generable(description: "A described type")
struct Described: Equatable {
    @Guide(description: "Only a description")
    var one: String
    @Guide(description: "A description and guides", .minimumCount(1), .maximumCount(4))
    var two: [String]
    @Guide(.range(1...6))
    var three: Int
    @Guide(description: "A description and a regular expression", /[A-Z]{3}-\d{4}/)
    var four: String
    @Guide(/[a-z]+/)
    var five: String?
    @Guide(.minimumCount(1), .maximumCount(20))
    @Guide(description: "Stacked")
    var six: [Int]
    @Guide(
        description: """
            Several lines,
              one of them indented, with "quotation marks" and a \\ backslash.
            """)
    var seven: String
    @Guide(description: #"Raw \d"#, .anyOf(["a", "b"]))
    var eight: String
    @Guide(.element(.range(0...10)), .count(2))
    var nine: [Int]
    @Guide(description: Described.text, .constant("x"))
    var ten: String
    @Guide(.element(.anyOf(["north", "south"])))
    var eleven: [String]
    @Guide(
        Regex {
            "INV-"
            Repeat(.digit, count: 4)
        })
    var twelve: String
    @Guide(.pattern(/x+/), .anyOf(["x", "xx", "y"]))
    var thirteen: String
    @Guide(.minimum(-1.5), .maximum(2.5))
    var fourteen: Double
    @Guide(.minimum(Decimal(string: "0.10")!))
    var fifteen: Decimal?

    nonisolated static let text = "A description from a constant"
}

@Generable
struct WithDefaults: Equatable {
    var tags: [String] = ["a"]
    let constant: Int = 7
    var observed: Int = 1 {
        didSet { count += 1 }
    }
    var computed: Int { observed * 2 }
    static let shared = 3
    static var counter: Int { 4 }
    lazy var later = 5
    private(set) var count: Int = 0
    var a, b: Int
    var unwrapped: String!
    var spelled: Optional<Int>
    func method() {}
}

@Generable
enum PlainEnum: CaseIterable {
    case north, south
    case `in`, `default`
}

@Generable
enum StringEnum: String, CaseIterable, Codable {
    case one = "number one"
    case two
    case dashed = "with-a-dash"
    case quoted = "a \"quoted\" one"
    case emoji = "🙂"
}

@Generable
enum IntEnum: Int, Codable {
    case user = 0
    case assistant = 10
}

@Generable
indirect enum Shape: Equatable {
    case circle(radius: Double)
    case polygon(corners: [Int], name: String?)
    case label(String)
    case pair(Int, Int)
    case group([Shape])
    case empty
}

@Generable
enum TypeLabel: Equatable {
    case a(type: String)
    case b
}

@Generable
struct Person: Equatable {
    var name: String
    @Guide(.maximumCount(3))
    var children: [Person]
}

@Generable
struct Outer: Equatable {
    var items: [Item]
    var one: Item?

    @Generable
    struct Item: Equatable {
        var name: String
        var kind: Kind

        @Generable
        enum Kind {
            case a, b
        }
    }
}

enum Elsewhere {
    @Generable
    struct Item: Equatable {
        var count: Int
    }
}

@Generable
struct SameNames {
    var first: Outer.Item
    var second: Elsewhere.Item
}

@Generable
private struct PrivateStruct: Equatable {
    var a: String
    fileprivate var b: PrivateEnum
    private(set) var c: Int
}

@Generable
fileprivate enum PrivateEnum {
    case x, y
}

private enum PrivateSpace {
    @Generable
    struct Inner: Equatable {
        var b: PrivateEnum
    }
}

/// Reaches the private types from the tests.
enum PrivateShapes {
    static func roundTrips() throws -> [Bool] {
        let outer = PrivateStruct(a: "x", b: .y, c: 3)
        let inner = PrivateSpace.Inner(b: .x)
        return try [
            PrivateStruct(outer.generatedContent) == outer,
            PrivateSpace.Inner(inner.generatedContent) == inner,
            outer.asPartiallyGenerated().b == .y,
        ]
    }
}

@Generable
public struct PublicStruct: Codable, Equatable, Sendable, Identifiable {
    public var id: String { name }
    public let name: String
    var hidden: Int
    public var kind: PublicEnum

    @Generable
    public enum PublicEnum: String, Codable, Sendable {
        case a
        case b
    }
}

public enum PublicSpace {}

extension PublicSpace {
    @Generable
    public struct InExtension: Equatable {
        public var a: Int
    }
}

public extension PublicSpace {
    @Generable
    struct InPublicExtension: Equatable {
        public var a: Int
    }
}

@MainActor
@Generable
struct OnMainActor {
    var a: String
    var b: Int?
}

@MainActor
final class ViewModel {
    @Generable
    struct Draft: Equatable {
        var title: String
    }
}

@Generable
struct Box<Value: Generable & Equatable>: Equatable {
    var value: Value
    var others: [Value]
}

enum GenericSpace<Element: Generable & Equatable> {
    @Generable
    struct Inner: Equatable {
        var element: Element
    }
}

@Generable
struct Keywords: Equatable {
    var `default`: String
    var `class`: Int
    var name: String
    var description: String
    var properties: [String]
    var content: String
    var add: Bool
    var type: String
    var guides: Int
}

@Generable
struct Identified: Equatable {
    var id: GenerationID
    var text: String
}

@Generable
struct IdentifiedByDefault {
    var id = GenerationID()
    var text: String
}

@Generable
struct OwnID: Equatable, Identifiable {
    var id: Int
    var text: String
}

@Generable(representNilExplicitlyInGeneratedContent: true)
struct ExplicitNil: Equatable {
    var a: String?
    var b: Int
}

@Generable(name: "Renamed", description: "Under another name")
struct HasOtherName: Equatable {
    var a: String
}

@Generable(name: "Renamed choice")
enum HasOtherNameToo {
    case a, b
}

typealias Names = [String]
typealias MaybeInt = Int?

@Generable
struct WithAliases: Equatable {
    var names: Names
    var maybe: MaybeInt
    @Guide(.count(2))
    var pair: Names?
}

@Generable
struct HandWritten: Equatable {
    var a: String
    var b: Int

    init(a: String, b: Int) {
        self.a = a
        self.b = b
    }

    init(_ text: String) {
        a = text
        b = 0
    }

    init(_ content: GeneratedContent) throws {
        a = try content.value(forProperty: "a")
        b = 42
    }

    struct PartiallyGenerated: ConvertibleFromGeneratedContent {
        var note = "hand-written"
        init(_ content: GeneratedContent) throws {}
    }

    var generatedContent: GeneratedContent { GeneratedContent(properties: ["a": "\(a)!"]) }
    static var generationSchema: GenerationSchema {
        GenerationSchema(type: Self.self, description: "by hand", properties: [.init(name: "a", type: String.self)])
    }
}

@Generable
struct DeclaredConformance: Generable, Equatable {
    var a: String
}

@Generable
struct Empty: Equatable {}

/// A generable type without the macro.
struct ByHand: Generable, Equatable {
    var value: Int

    static var generationSchema: GenerationSchema { Int.generationSchema }
    init(value: Int) { self.value = value }
    init(_ content: GeneratedContent) throws { value = try content.value() }
    var generatedContent: GeneratedContent { value.generatedContent }
}

@Generable
struct UsesByHand: Equatable {
    @Guide(description: "A number of its own type")
    var number: ByHand
}
