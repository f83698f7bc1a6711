import CFoundationModels
import FoundationModels

/// Content, for C.
final class HandledContent: HandledObject {
    static let kind = "content"
    let content: GeneratedContent

    init(_ content: GeneratedContent) { self.content = content }
}

@_cdecl("FMGeneratedContentCreateFromJSON")
public func createContent(
    _ json: UnsafePointer<CChar>?, _ errorCode: UnsafeMutablePointer<Int32>?,
    _ errorDescription: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> UnsafeRawPointer? {
    ErrorReport(code: errorCode, description: errorDescription).value {
        HandleTable.shared.add(HandledContent(try GeneratedContent(json: try text(json, "JSON of the content"))))
    }
}

@_cdecl("FMGeneratedContentGetJSONString")
public func contentJSON(_ content: UnsafeRawPointer?) -> UnsafeMutablePointer<CChar>? {
    ErrorReport(code: nil, description: nil).value {
        allocated(try HandleTable.shared.object(content, as: HandledContent.self).content.jsonString)
    }
}

@_cdecl("FMGeneratedContentGetPropertyValue")
public func contentProperty(
    _ content: UnsafeRawPointer?, _ name: UnsafePointer<CChar>?, _ errorCode: UnsafeMutablePointer<Int32>?,
    _ errorDescription: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> UnsafeMutablePointer<CChar>? {
    ErrorReport(code: errorCode, description: errorDescription).value {
        let content = try HandleTable.shared.object(content, as: HandledContent.self).content
        let value = try content.value(GeneratedContent.self, forProperty: try text(name, "name of the property"))
        if case .string(let string) = value.kind { return allocated(string) }
        return allocated(value.jsonString)
    }
}

@_cdecl("FMGeneratedContentIsComplete")
public func isContentComplete(_ content: UnsafeRawPointer?) -> Bool {
    (try? HandleTable.shared.object(content, as: HandledContent.self).content.isComplete) ?? false
}
