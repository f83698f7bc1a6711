import Foundation

/// What a tool gives back, in the spelling of the first articles. Tools can return any ``PromptRepresentable`` value.
public struct ToolOutput: PromptRepresentable, Sendable {
    /// Where the data came from, so that the answer can name it.
    public struct Source: Sendable, Hashable {
        public var name: String
        public var url: URL?

        public init(name: String, url: URL? = nil) {
            self.name = name
            self.url = url
        }
    }

    private let content: ContentPart
    private let sources: [Source]

    public init(_ text: String) { self.init(text, sources: []) }

    public init(_ content: GeneratedContent) { self.init(content, sources: []) }

    /// - Parameter source: Where the text came from.
    public init(_ text: String, source: Source) { self.init(text, sources: [source]) }

    /// - Parameter sources: Where the text came from.
    public init(_ text: String, sources: [Source]) {
        content = .text(text)
        self.sources = sources
    }

    /// - Parameter sources: Where the content came from.
    public init(_ content: GeneratedContent, sources: [Source]) {
        self.content = ContentPart(content)
        self.sources = sources
    }

    public var promptRepresentation: Prompt {
        let lines = sources.map { source in
            ContentPart.text("Source: \(source.name)\(source.url.map { " <\($0.absoluteString)>" } ?? "")")
        }
        return Prompt(parts: [content] + lines)
    }
}
