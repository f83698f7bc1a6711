import Synchronization

/// An object that C can hold a handle of.
package protocol HandledObject: AnyObject, Sendable {
    /// What C calls such an object, for messages.
    static var kind: String { get }

    /// C gave up its last reference. Others, such as a session's to its tools, may remain.
    func handleWasReleased()
}

extension HandledObject {
    package func handleWasReleased() {}
}

/// What C holds instead of addresses: numbers, which are never given out twice. So a handle that was released, released twice
/// or mixed up with another is found out instead of being followed into freed memory.
package final class HandleTable: Sendable {
    /// The table of the process, since C has only the number to hand back.
    package static let shared = HandleTable()

    private struct Entry {
        let object: any HandledObject
        var references: Int
    }

    private struct State {
        // Small numbers are what is found in zeroed and half-written memory.
        var next: UInt = 0x10000
        var entries: [UInt: Entry] = [:]
    }

    private let state = Mutex(State())

    /// Makes a handle with one reference.
    func add(_ object: any HandledObject) -> UnsafeRawPointer? {
        let number = state.withLock { state in
            defer { state.next += 16 }
            state.entries[state.next] = Entry(object: object, references: 1)
            return state.next
        }
        return UnsafeRawPointer(bitPattern: number)
    }

    /// The object of a handle.
    package func object<Object: HandledObject>(
        _ handle: UnsafeRawPointer?, as type: Object.Type = Object.self
    ) throws(InvalidArgument) -> Object {
        guard let handle else { throw InvalidArgument("The \(Object.kind) is NULL.") }
        let object = state.withLock { $0.entries[UInt(bitPattern: handle)]?.object }
        guard let object else {
            throw InvalidArgument("The \(Object.kind) is not a handle, or one that was released.")
        }
        guard let object = object as? Object else {
            throw InvalidArgument("A \(Object.kind) is needed; the handle is of a \(Swift.type(of: object).kind).")
        }
        return object
    }

    /// Adds a reference. False when there is no such handle.
    func retain(_ handle: UnsafeRawPointer) -> Bool {
        state.withLock { $0.entries[UInt(bitPattern: handle)]?.references += 1 } != nil
    }

    /// Takes a reference away. False when there is no such handle.
    func release(_ handle: UnsafeRawPointer) -> Bool {
        let number = UInt(bitPattern: handle)
        let (isKnown, last) = state.withLock { state -> (Bool, (any HandledObject)?) in
            guard var entry = state.entries[number] else { return (false, nil) }
            entry.references -= 1
            state.entries[number] = entry.references > 0 ? entry : nil
            return (true, entry.references > 0 ? nil : entry.object)
        }
        // Outside the lock: an object may have handles of its own to release.
        last?.handleWasReleased()
        return isKnown
    }

    /// How many handles there are.
    package var count: Int { state.withLock { $0.entries.count } }
}

@_cdecl("FMRetain")
public func retainHandle(_ object: UnsafeRawPointer?) {
    guard let object, HandleTable.shared.retain(object) else { return warn("FMRetain: no such handle.") }
}

@_cdecl("FMRelease")
public func releaseHandle(_ object: UnsafeRawPointer?) {
    guard let object, HandleTable.shared.release(object) else { return warn("FMRelease: no such handle.") }
}
