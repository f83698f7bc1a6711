import CFoundationModels
import Foundation

/// An argument that C gave is not what it has to be.
package struct InvalidArgument: LocalizedError {
    package let errorDescription: String?

    init(_ text: String) { errorDescription = text }
}

/// The text of a C string.
func text(_ pointer: UnsafePointer<CChar>?, _ name: String) throws(InvalidArgument) -> String {
    guard let text = try optionalText(pointer, name) else { throw InvalidArgument("The \(name) is NULL.") }
    return text
}

/// The text of a C string that may be left out.
func optionalText(_ pointer: UnsafePointer<CChar>?, _ name: String) throws(InvalidArgument) -> String? {
    guard let pointer else { return nil }
    guard let text = String(validatingCString: pointer) else { throw InvalidArgument("The \(name) is not UTF-8.") }
    return text
}

/// The elements of a C array.
func elements<Element>(
    _ pointer: UnsafePointer<Element>?, _ count: Int32, _ name: String
) throws(InvalidArgument) -> UnsafeBufferPointer<Element> {
    guard count >= 0 else { throw InvalidArgument("The number of \(name) is \(count).") }
    guard let pointer else {
        guard count == 0 else { throw InvalidArgument("There are to be \(count) \(name), but they are NULL.") }
        return UnsafeBufferPointer(start: nil, count: 0)
    }
    return UnsafeBufferPointer(start: pointer, count: Int(count))
}

/// A string for C to free.
func allocated(_ text: String) -> UnsafeMutablePointer<CChar>? { strdup(text) }

@_cdecl("FMFreeString")
public func freeString(_ string: UnsafeMutablePointer<CChar>?) { free(string) }

/// Says what cannot be said to the caller.
func warn(_ text: String) {
    FileHandle.standardError.write(Data("FoundationModels: \(text)\n".utf8))
}
