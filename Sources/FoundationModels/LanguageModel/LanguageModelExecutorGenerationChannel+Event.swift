import Foundation

extension LanguageModelExecutorGenerationChannel {
    /// One step in the making of a turn.
    ///
    /// An event without an entry identifier goes to the entry that the event before it went to, when that is of the same kind, and
    /// opens a new entry otherwise. An event with an identifier goes to the entry of that identifier, wherever it stands.
    public struct Event: Sendable {
        enum Kind: Sendable {
            case response(Response)
            case reasoning(Reasoning)
            case toolCalls(ToolCalls)
        }

        let kind: Kind

        public static func response(entryID: String? = nil, action: Response.Action) -> Event {
            Event(kind: .response(Response(entryID: entryID, action: action)))
        }

        public static func reasoning(entryID: String? = nil, action: Reasoning.Action) -> Event {
            Event(kind: .reasoning(Reasoning(entryID: entryID, action: action)))
        }

        public static func toolCalls(entryID: String? = nil, action: ToolCalls.Action) -> Event {
            Event(kind: .toolCalls(ToolCalls(entryID: entryID, action: action)))
        }
    }

    /// What a provider says about an entry or a call; replaces what it said before.
    public struct Metadata: Sendable {
        public var values: [String: GeneratedContent]
    }

    /// The tokens of a turn so far; replaces what was reported before and what the fragments counted.
    public struct Usage: Sendable {
        public var input: Input
        public var output: Output
        public var metadata: [String: GeneratedContent]

        public init(input: Input, output: Output, metadata: [String: any ConvertibleToGeneratedContent] = [:]) {
            self.input = input
            self.output = output
            self.metadata = metadata.mapValues(\.generatedContent)
        }

        public struct Input: Sendable {
            public var totalTokenCount: Int
            /// How many of them were not computed anew.
            public var cachedTokenCount: Int

            public init(totalTokenCount: Int, cachedTokenCount: Int) {
                self.totalTokenCount = totalTokenCount
                self.cachedTokenCount = cachedTokenCount
            }
        }

        public struct Output: Sendable {
            public var totalTokenCount: Int
            public var reasoningTokenCount: Int

            public init(totalTokenCount: Int, reasoningTokenCount: Int) {
                self.totalTokenCount = totalTokenCount
                self.reasoningTokenCount = reasoningTokenCount
            }
        }
    }

    public struct TextFragment: Sendable {
        public var content: String
        /// The segment that the text goes to; nil for the last one.
        public var segmentID: String?
        public var tokenCount: Int
    }

    public struct TextSegmentReplacement: Sendable {
        public var content: String
        /// The segment that is replaced; nil for the last one.
        public var segmentID: String?
        public var tokenCount: Int
    }

    public struct Response: Sendable {
        public var entryID: String?
        public var action: Action

        public struct Action: Sendable {
            enum Kind: Sendable {
                case appendText(TextFragment)
                case replaceText(TextSegmentReplacement)
                case addAttachment(Transcript.AttachmentSegment)
                case removeAttachment(id: String)
                case updateMetadata(Metadata)
                case updateUsage(Usage)
            }

            let kind: Kind

            public static func appendText(_ text: String, segmentID: String? = nil, tokenCount: Int) -> Action {
                Action(kind: .appendText(.init(content: text, segmentID: segmentID, tokenCount: tokenCount)))
            }

            public static func replaceTextSegment(
                _ text: String, segmentID: String? = nil, tokenCount: Int
            ) -> Action {
                Action(kind: .replaceText(.init(content: text, segmentID: segmentID, tokenCount: tokenCount)))
            }

            public static func addAttachmentSegment(_ segment: Transcript.AttachmentSegment) -> Action {
                Action(kind: .addAttachment(segment))
            }

            public static func removeAttachmentSegment(id: String) -> Action {
                Action(kind: .removeAttachment(id: id))
            }

            public static func updateMetadata(_ values: [String: any ConvertibleToGeneratedContent]) -> Action {
                Action(kind: .updateMetadata(Metadata(values: values.mapValues(\.generatedContent))))
            }

            public static func updateUsage(
                input: Usage.Input, output: Usage.Output, metadata: [String: any ConvertibleToGeneratedContent] = [:]
            ) -> Action {
                Action(kind: .updateUsage(Usage(input: input, output: output, metadata: metadata)))
            }
        }
    }

    public struct Reasoning: Sendable {
        public var entryID: String?
        public var action: Action

        public struct Action: Sendable {
            enum Kind: Sendable {
                case appendText(TextFragment)
                case replaceText(TextSegmentReplacement)
                case updateSignature(ReasoningSignature)
                case updateMetadata(Metadata)
                case updateUsage(Usage)
            }

            let kind: Kind

            public static func appendText(_ text: String, segmentID: String? = nil, tokenCount: Int) -> Action {
                Action(kind: .appendText(.init(content: text, segmentID: segmentID, tokenCount: tokenCount)))
            }

            public static func replaceTextSegment(
                _ text: String, segmentID: String? = nil, tokenCount: Int
            ) -> Action {
                Action(kind: .replaceText(.init(content: text, segmentID: segmentID, tokenCount: tokenCount)))
            }

            public static func updateSignature(_ signature: Data, tokenCount: Int) -> Action {
                Action(kind: .updateSignature(.init(signature: signature, tokenCount: tokenCount)))
            }

            public static func updateMetadata(_ values: [String: any ConvertibleToGeneratedContent]) -> Action {
                Action(kind: .updateMetadata(Metadata(values: values.mapValues(\.generatedContent))))
            }

            public static func updateUsage(
                input: Usage.Input, output: Usage.Output, metadata: [String: any ConvertibleToGeneratedContent] = [:]
            ) -> Action {
                Action(kind: .updateUsage(Usage(input: input, output: output, metadata: metadata)))
            }
        }
    }

    public struct ReasoningSignature: Sendable {
        public var signature: Data
        public var tokenCount: Int
    }

    public struct ToolCalls: Sendable {
        public var entryID: String?
        public var action: Action

        public struct Action: Sendable {
            enum Kind: Sendable {
                case toolCall(ToolCall)
                case removeToolCall(id: String)
                case updateMetadata(Metadata)
                case updateUsage(Usage)
            }

            let kind: Kind

            /// - Parameters:
            ///   - id: The call that the action is for; the first event with an identifier opens the call. An empty one is
            ///     replaced by one of the session's own.
            ///   - name: The tool; the same with each event of the call.
            public static func toolCall(id: String, name: String, action: ToolCall.Action) -> Action {
                Action(kind: .toolCall(ToolCall(id: id, name: name, action: action)))
            }

            public static func removeToolCall(id: String) -> Action {
                Action(kind: .removeToolCall(id: id))
            }

            public static func updateMetadata(_ values: [String: any ConvertibleToGeneratedContent]) -> Action {
                Action(kind: .updateMetadata(Metadata(values: values.mapValues(\.generatedContent))))
            }

            public static func updateUsage(
                input: Usage.Input, output: Usage.Output, metadata: [String: any ConvertibleToGeneratedContent] = [:]
            ) -> Action {
                Action(kind: .updateUsage(Usage(input: input, output: output, metadata: metadata)))
            }
        }

        public struct ToolCall: Sendable {
            public var id: String
            public var name: String
            public var action: Action

            public struct Action: Sendable {
                enum Kind: Sendable {
                    case appendArguments(ArgumentsFragment)
                    case updateMetadata(Metadata)
                }

                let kind: Kind

                public static func appendArguments(_ content: String, tokenCount: Int) -> Action {
                    Action(kind: .appendArguments(.init(content: content, tokenCount: tokenCount)))
                }

                public static func updateMetadata(_ values: [String: any ConvertibleToGeneratedContent]) -> Action {
                    Action(kind: .updateMetadata(Metadata(values: values.mapValues(\.generatedContent))))
                }
            }

            public struct ArgumentsFragment: Sendable {
                public var content: String
                public var tokenCount: Int
            }
        }
    }
}
