import Foundation
import JSON

extension Transcript {
    /// The conversation as messages of the protocol. Reasoning goes with the message of the assistant that it led to, and so do the
    /// tool calls of a response before them.
    package func chatCompletionsMessages() throws -> [JSONValue] {
        var messages: [JSONObject] = []
        var reasoning = ""

        /// The message of the assistant that an entry belongs to.
        func withAssistant(continuing: Bool, _ change: (inout JSONObject) -> Void) {
            let continuesLast =
                continuing && reasoning.isEmpty && messages.last?["role"] == "assistant"
                && messages.last?["tool_calls"] == nil
            // There even when it is empty: templates of some servers fail on a message without it, and others take no null.
            var message = continuesLast ? messages.removeLast() : ["role": "assistant", "content": ""]
            change(&message)
            if !reasoning.isEmpty {
                message["reasoning_content"] = .string(reasoning)
                reasoning = ""
            }
            messages.append(message)
        }

        for entry in self {
            switch entry {
            case .instructions(let instructions):
                guard !instructions.segments.isEmpty else { continue }
                messages.append([
                    "role": "system", "content": try instructions.segments.chatCompletionsContent(in: entry),
                ])
            case .prompt(let prompt):
                if !reasoning.isEmpty { withAssistant(continuing: false) { $0["content"] = "" } }
                messages.append(["role": "user", "content": try prompt.segments.chatCompletionsContent(in: entry)])
            case .toolCalls(let calls):
                withAssistant(continuing: true) { message in
                    message["tool_calls"] = .array(calls.map(\.chatCompletionsCall))
                }
            case .toolOutput(let output):
                messages.append([
                    "role": "tool", "content": try output.segments.chatCompletionsContent(in: entry),
                    "tool_call_id": .string(output.id),
                ])
            case .response(let response):
                let content = try response.segments.chatCompletionsContent(in: entry)
                withAssistant(continuing: false) { $0["content"] = content }
            case .reasoning(let entry): reasoning += entry.segments.joinedText
            }
        }
        if !reasoning.isEmpty { withAssistant(continuing: false) { $0["content"] = "" } }
        return messages.map(JSONValue.object)
    }
}

extension Transcript.ToolCall {
    fileprivate var chatCompletionsCall: JSONValue {
        [
            "id": .string(id), "type": "function",
            "function": ["name": .string(toolName), "arguments": .string(argumentsText)],
        ]
    }
}

extension [Transcript.Segment] {
    /// The content of a message: a text, or a list of parts where there are images.
    fileprivate func chatCompletionsContent(in entry: Transcript.Entry) throws -> JSONValue {
        let hasImages = contains { if case .attachment = $0 { true } else { false } }
        guard hasImages else { return .string(promptText) }
        var parts: [JSONValue] = []
        for segment in self {
            switch segment {
            case .attachment(let attachment):
                // The label is how a tool or an answer can speak of the image.
                if let label = attachment.label {
                    parts.append(["type": "text", "text": .string("The next image is called \(label).")])
                }
                switch attachment.content {
                case .image(let image):
                    parts.append([
                        "type": "image_url", "image_url": ["url": .string(try image.dataURL(in: entry))],
                    ])
                }
            default: parts.append(["type": "text", "text": .string(segment.text ?? "")])
            }
        }
        return .array(parts)
    }
}

extension Transcript.ImageAttachment {
    /// Bytes of an image file that are sent.
    private static var sizeLimit: Int { 32 << 20 }

    /// The image as a `data:` URL, which needs no one else to be asked.
    fileprivate func dataURL(in entry: Transcript.Entry) throws -> String {
        func unsupported(_ reason: String) -> LanguageModelError {
            .unsupportedTranscriptContent(.init(unsupportedContent: [entry], debugDescription: reason))
        }
        guard orientation == .up else {
            throw unsupported(
                "The image has the orientation \(orientation), which the protocol cannot say. Turn the image upright first."
            )
        }
        let data: Data
        switch source {
        case .data(let bytes): data = bytes
        case .url(let url):
            if url.scheme == "data" { return url.absoluteString }
            guard url.isFileURL else {
                throw unsupported(
                    "The image \(url.absoluteString) is not on this machine. Read it and attach its bytes instead.")
            }
            do {
                let size = try FileManager.default.attributesOfItem(atPath: url.path)[.size] as? Int ?? 0
                guard size <= Self.sizeLimit else {
                    throw unsupported("The image \(url.path) has \(size) bytes; \(Self.sizeLimit) can be sent.")
                }
                data = try Data(contentsOf: url)
            } catch let error as LanguageModelError {
                throw error
            } catch {
                throw unsupported("The image \(url.path) cannot be read: \(error.localizedDescription)")
            }
        case .image:
            throw unsupported(
                "An image that is pixels in memory cannot be sent. Attach the bytes of a PNG or JPEG file, or its URL.")
        }
        guard data.count <= Self.sizeLimit else {
            throw unsupported("The image has \(data.count) bytes; \(Self.sizeLimit) can be sent.")
        }
        guard let type = Self.mediaType(of: data) else {
            throw unsupported("The image is neither PNG, JPEG, GIF nor WebP.")
        }
        return "data:\(type);base64,\(data.base64EncodedString())"
    }

    /// The kind of an image file by its first bytes; nil for one that servers do not read.
    private static func mediaType(of data: Data) -> String? {
        if data.starts(with: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]) { return "image/png" }
        if data.starts(with: [0xff, 0xd8, 0xff]) { return "image/jpeg" }
        if data.starts(with: Array("GIF8".utf8)) { return "image/gif" }
        if data.starts(with: Array("RIFF".utf8)), data.dropFirst(8).starts(with: Array("WEBP".utf8)) {
            return "image/webp"
        }
        return nil
    }
}
