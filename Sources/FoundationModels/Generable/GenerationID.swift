import Foundation

/// Identifies one generated value for as long as one response lasts.
///
/// While a response streams in, the same value has the same identifier in every snapshot, so that a list can follow its
/// elements. Identifiers do not carry over to another response, and no schema speaks of them.
public struct GenerationID: Sendable, Hashable {
    /// The response, or the value made by hand, that the identifier belongs to.
    private let origin: UUID
    /// Where in it the value stands, as a JSON pointer (RFC 6901); empty for the root.
    private let pointer: String

    /// Makes an identifier that no other value has.
    public init() {
        self.init(origin: UUID(), pointer: "")
    }

    private init(origin: UUID, pointer: String) {
        self.origin = origin
        self.pointer = pointer
    }

    /// The identifier of the value under a key of the value that this one identifies.
    package func appending(key: String) -> GenerationID {
        let escaped = key.replacing("~", with: "~0").replacing("/", with: "~1")
        return GenerationID(origin: origin, pointer: "\(pointer)/\(escaped)")
    }

    /// The identifier of an element of the array that this one identifies.
    package func appending(index: Int) -> GenerationID {
        GenerationID(origin: origin, pointer: "\(pointer)/\(index)")
    }
}
