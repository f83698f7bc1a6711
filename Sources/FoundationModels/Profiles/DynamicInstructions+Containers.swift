/// Several instructions, one after the other.
public struct TupleDynamicInstructions<each Content: DynamicInstructions>: DynamicInstructions, PrimitiveInstructions {
    public typealias Body = Never

    private let contents: (repeat each Content)

    public init(_ contents: repeat each Content) { self.contents = (repeat each contents) }

    func resolve(into resolved: inout ResolvedInstructions) {
        for content in repeat each contents { content.resolved(into: &resolved) }
    }
}

/// One of two instructions.
public struct ConditionalDynamicInstructions<TrueContent, FalseContent>: DynamicInstructions, PrimitiveInstructions
where TrueContent: DynamicInstructions, FalseContent: DynamicInstructions {
    public typealias Body = Never

    public enum Branch {
        case trueContent(TrueContent)
        case falseContent(FalseContent)
    }

    private let branch: Branch

    public init(_ branch: Branch) { self.branch = branch }

    func resolve(into resolved: inout ResolvedInstructions) {
        switch branch {
        case .trueContent(let content): content.resolved(into: &resolved)
        case .falseContent(let content): content.resolved(into: &resolved)
        }
    }

    public var body: Never { fatalError("\(Self.self) has no body") }
}

extension Optional: DynamicInstructions where Wrapped: DynamicInstructions {
    public typealias Body = Never

    public var body: Never { fatalError("\(Self.self) has no body") }
}

extension Optional: PrimitiveInstructions where Wrapped: DynamicInstructions {
    func resolve(into resolved: inout ResolvedInstructions) { self?.resolved(into: &resolved) }
}

extension Never: DynamicInstructions {
    public typealias Body = Never

    public var body: Never { fatalError("there is no such value") }
}

/// No instructions.
public struct EmptyDynamicInstructions: DynamicInstructions, PrimitiveInstructions, Sendable {
    public typealias Body = Never

    public init() {}

    func resolve(into resolved: inout ResolvedInstructions) {}

    public var body: Never { fatalError("\(Self.self) has no body") }
}

/// Instructions for each element of a collection.
public struct DynamicInstructionsForEach<Data, ID, Content>: DynamicInstructions, PrimitiveInstructions
where Data: RandomAccessCollection, ID: Hashable, Content: DynamicInstructions {
    public typealias Body = Never

    private let data: Data
    private let id: (Data.Element) -> ID
    private let content: (Data.Element) -> Content

    public init(
        _ data: Data, id: KeyPath<Data.Element, ID>,
        @DynamicInstructionsBuilder content: @escaping (Data.Element) -> Content
    ) {
        self.data = data
        self.id = { $0[keyPath: id] }
        self.content = content
    }

    /// Elements with one identifier are one element: the first of them counts.
    func resolve(into resolved: inout ResolvedInstructions) {
        var seen: Set<ID> = []
        for element in data where seen.insert(id(element)).inserted {
            content(element).resolved(into: &resolved)
        }
    }

    public var body: Never { fatalError("\(Self.self) has no body") }
}

extension DynamicInstructionsForEach where ID == Data.Element.ID, Data.Element: Identifiable {
    public init(_ data: Data, @DynamicInstructionsBuilder content: @escaping (Data.Element) -> Content) {
        self.init(data, id: \.id, content: content)
    }
}

extension DynamicInstructions {
    public typealias ForEach = DynamicInstructionsForEach
}
