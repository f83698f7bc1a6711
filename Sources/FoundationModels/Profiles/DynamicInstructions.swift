/// Instructions that are put together anew before each call of the model.
///
/// A body says what holds now: it must be quick and must change nothing, for it is evaluated as often as the session likes.
@_typeEraser(AnyDynamicInstructions)
public protocol DynamicInstructions {
    associatedtype Body: DynamicInstructions

    @DynamicInstructionsBuilder var body: Body { get }
}

/// What dynamic instructions come to.
struct ResolvedInstructions {
    var segments: [Transcript.Segment] = []
    var tools: [any Tool] = []
}

/// Dynamic instructions that know by themselves what they come to.
protocol PrimitiveInstructions: DynamicInstructions where Body == Never {
    func resolve(into resolved: inout ResolvedInstructions)
}

extension PrimitiveInstructions {
    public var body: Never { fatalError("\(Self.self) has no body") }
}

extension DynamicInstructions {
    /// Adds what these instructions come to.
    func resolved(into resolved: inout ResolvedInstructions) {
        if let primitive = self as? any PrimitiveInstructions {
            primitive.resolve(into: &resolved)
        } else {
            body.resolved(into: &resolved)
        }
    }
}

/// Dynamic instructions of any type.
public struct AnyDynamicInstructions: DynamicInstructions, PrimitiveInstructions {
    public typealias Body = Never

    private let base: any DynamicInstructions

    public init(_ dynamicInstructions: any DynamicInstructions) { base = dynamicInstructions }

    public init(erasing dynamicInstructions: some DynamicInstructions) { self.init(dynamicInstructions) }

    func resolve(into resolved: inout ResolvedInstructions) { base.resolved(into: &resolved) }
}

extension Instructions: DynamicInstructions {
    public var body: some DynamicInstructions { StaticInstructions(instructions: self) }
}

/// Instructions that say what they say.
struct StaticInstructions: PrimitiveInstructions {
    let instructions: Instructions

    func resolve(into resolved: inout ResolvedInstructions) { resolved.segments += instructions.segments }
}

/// A tool among instructions.
struct ToolInstructions: PrimitiveInstructions {
    let tool: any Tool

    func resolve(into resolved: inout ResolvedInstructions) { resolved.tools.append(tool) }
}
