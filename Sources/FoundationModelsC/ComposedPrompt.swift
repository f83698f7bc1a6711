import CFoundationModels
import Foundation
import FoundationModels
import Synchronization

/// A prompt that C puts together piece by piece.
final class ComposedPrompt: HandledObject {
    static let kind = "prompt"

    /// The pieces, or what was wrong with the first bad one.
    private let pieces = Mutex<Result<[Prompt], InvalidArgument>>(.success([]))

    func add(_ piece: () throws(InvalidArgument) -> Prompt) {
        let added: Result<Prompt, InvalidArgument>
        do { added = .success(try piece()) } catch { added = .failure(error) }
        pieces.withLock { pieces in
            pieces = pieces.flatMap { earlier in added.map { earlier + [$0] } }
        }
    }

    func prompt() throws(InvalidArgument) -> Prompt {
        let pieces = try pieces.withLock { $0 }.get()
        return PromptBuilder.buildArray(pieces)
    }
}

@_cdecl("FMComposedPromptInitialize")
public func makePrompt() -> UnsafeRawPointer? { HandleTable.shared.add(ComposedPrompt()) }

@_cdecl("FMComposedPromptAddText")
public func addText(_ prompt: UnsafeRawPointer?, _ words: UnsafePointer<CChar>?) {
    do {
        try HandleTable.shared.object(prompt, as: ComposedPrompt.self).add { () throws(InvalidArgument) in
            Prompt(try text(words, "text of the prompt"))
        }
    } catch {
        warn("FMComposedPromptAddText: \(description(of: error))")
    }
}

@_cdecl("FMComposedPromptAddImage")
public func addImage(
    _ prompt: UnsafeRawPointer?, _ path: UnsafePointer<CChar>?,
    _ problem: UnsafeMutablePointer<FMComposedPromptAddImageError>?
) -> Bool {
    addAttachment(prompt, path, nil, problem)
}

@_cdecl("FMComposedPromptAddIdentifiedImage")
public func addIdentifiedImage(
    _ prompt: UnsafeRawPointer?, _ path: UnsafePointer<CChar>?, _ identifier: UnsafePointer<CChar>?,
    _ problem: UnsafeMutablePointer<FMComposedPromptAddImageError>?
) -> Bool {
    guard identifier != nil else {
        problem?.pointee = FMComposedPromptAddImageErrorUnknown
        return false
    }
    return addAttachment(prompt, path, identifier, problem)
}

@_cdecl("FMComposedPromptAddAttachment")
public func addAttachment(
    _ prompt: UnsafeRawPointer?, _ path: UnsafePointer<CChar>?, _ label: UnsafePointer<CChar>?,
    _ problem: UnsafeMutablePointer<FMComposedPromptAddImageError>?
) -> Bool {
    problem?.pointee = FMComposedPromptAddImageErrorNone
    do {
        let prompt = try HandleTable.shared.object(prompt, as: ComposedPrompt.self)
        let path = try text(path, "path of the image")
        let label = try optionalText(label, "label of the image")
        guard FileManager.default.isReadableFile(atPath: path) else { throw InvalidArgument("No file '\(path)'.") }
        guard SystemLanguageModel.default.capabilities.contains(.vision) else {
            problem?.pointee = FMComposedPromptAddImageErrorUnsupportedOS
            return false
        }
        let image = Attachment(imageURL: URL(fileURLWithPath: path))
        prompt.add { Prompt(label.map(image.label) ?? image) }
        return true
    } catch {
        problem?.pointee = FMComposedPromptAddImageErrorUnknown
        return false
    }
}
