import Inference
import JSON

/// A request to `/v1/chat/completions`, read and checked.
struct ChatCompletionRequest: Sendable {
    enum ToolChoice: Sendable, Hashable {
        case none, automatic, required
        case function(String)
    }

    enum Format: Sendable, Hashable {
        case text
        /// Any JSON object.
        case object
        case schema(JSONValue)
    }

    var model: String?
    var messages: [ChatMessage]
    var tools: [ChatTool]
    var toolChoice: ToolChoice
    /// Whether one answer may make several calls.
    var allowsParallelCalls: Bool
    var format: Format
    /// How many of the likeliest tokens are told of with each; nil: no probabilities.
    var logprobCount: Int?
    /// How many tokens a model that thinks may think before it answers; nil: it is not to. Without effect on other models.
    var thinkingBudget: Int?
    var parameters: GenerationParameters

    init(_ object: JSONObject) throws(APIError) {
        var fields = Fields(object)
        model = try fields.string("model")
        messages = try Self.messages(&fields)
        tools = try Self.tools(&fields)
        toolChoice = try Self.toolChoice(&fields, &tools)
        allowsParallelCalls = try fields.bool("parallel_tool_calls") ?? true
        format = try Self.format(&fields)
        let wantsLogprobs = try fields.bool("logprobs") ?? false
        let top = try fields.integer("top_logprobs", in: 0...20)
        if top != nil, !wantsLogprobs {
            throw .invalid("top_logprobs", code: "invalid_value", "top_logprobs needs \"logprobs\": true.")
        }
        logprobCount = wantsLogprobs ? top ?? 0 : nil
        thinkingBudget = try Self.thinkingBudget(&fields)
        parameters = try GenerationParameters(&fields)
        try fields.refuse(
            "modalities", unless: { $0 == .array(["text"]) }, hint: "it answers with text alone")
        try fields.refuse("verbosity", unless: { $0 == "medium" })
        try fields.refuse("audio")
        try fields.refuse("web_search_options")
        try fields.refuse("functions", unless: { $0.arrayValue?.isEmpty == true }, hint: "use 'tools'")
        try fields.refuse("function_call", hint: "use 'tool_choice'")
        try fields.finish()
    }

    // MARK: Messages

    private static func messages(_ fields: inout Fields) throws(APIError) -> [ChatMessage] {
        guard let array = try fields.array("messages") else { throw fields.missing("messages") }
        guard !array.isEmpty else {
            throw .invalid("messages", code: "invalid_value", "messages must have a message.")
        }
        var messages: [ChatMessage] = []
        var callNames: [String: String] = [:]
        for (index, value) in array.enumerated() {
            let path = "messages[\(index)]"
            var message = try Fields(value, path: path)
            let role = try message.requiredString("role")
            // A participant's label, which templates do not show.
            message.ignore(["name"])
            switch role {
            case "system", "developer":
                messages.append(ChatMessage(.system, try content(&message, isRequired: true)))
            case "user":
                messages.append(ChatMessage(.user, try content(&message, isRequired: true)))
            case "assistant":
                let calls = try toolCalls(&message)
                for call in calls { callNames[call.id] = call.name }
                message.ignore(["refusal", "annotations", "audio"])
                try message.refuse("function_call", hint: "use 'tool_calls'")
                let reasoning = try message.string("reasoning_content")
                messages.append(
                    ChatMessage(
                        .assistant, try content(&message, isRequired: calls.isEmpty), reasoning: reasoning,
                        toolCalls: calls))
            case "tool":
                let id = try message.requiredString("tool_call_id")
                guard let name = callNames[id] else {
                    throw .invalid(
                        message.path("tool_call_id"), code: "invalid_value",
                        "\(message.path("tool_call_id")) '\(id.prefix(100))' is the id of no tool call before it.")
                }
                messages.append(
                    ChatMessage(
                        .tool, try content(&message, isRequired: true), toolCallID: id, toolName: name))
            default:
                throw .invalid(
                    message.path("role"), code: "invalid_value",
                    "\(message.path("role")) must be system, developer, user, assistant or tool, not '\(role.prefix(100))'."
                )
            }
            try message.finish()
        }
        return messages
    }

    /// The text of a message: a string, or parts that are all text.
    private static func content(_ message: inout Fields, isRequired: Bool) throws(APIError) -> String {
        let path = message.path("content")
        guard let value = message.value("content") else {
            if isRequired { throw message.missing("content") }
            return ""
        }
        if let string = value.stringValue { return string }
        guard let parts = value.arrayValue else { throw wrongType(value, path, "a string or an array of parts") }
        var texts: [String] = []
        for (index, value) in parts.enumerated() {
            var part = try Fields(value, path: "\(path)[\(index)]")
            let type = try part.requiredString("type")
            switch type {
            case "text": texts.append(try part.requiredString("text"))
            case "refusal": texts.append(try part.requiredString("refusal"))
            default:
                throw .invalid(
                    part.path("type"), code: "unsupported_value",
                    "The model reads text alone; \(part.path("type")) '\(type.prefix(100))' is not supported.")
            }
            part.ignore(["cache_control"])
            try part.finish()
        }
        return texts.joined(separator: "\n")
    }

    private static func toolCalls(_ message: inout Fields) throws(APIError) -> [ChatMessage.ToolCall] {
        var calls: [ChatMessage.ToolCall] = []
        for (index, value) in (try message.array("tool_calls") ?? []).enumerated() {
            var call = try Fields(value, path: "\(message.path("tool_calls"))[\(index)]")
            let id = try call.requiredString("id")
            let type = try call.string("type") ?? "function"
            guard type == "function" else { throw unsupportedType(call.path("type"), type) }
            call.ignore(["index"])
            var function = try call.requiredObject("function")
            let name = try function.requiredString("name")
            let text = try function.requiredString("arguments")
            try function.finish()
            try call.finish()
            do {
                let arguments = text.isEmpty ? .object(JSONObject()) : try JSONValue(parsing: text)
                calls.append(ChatMessage.ToolCall(id: id, name: name, arguments: arguments))
            } catch {
                throw .invalid(
                    function.path("arguments"), code: "invalid_value",
                    "\(function.path("arguments")) is no JSON text: \(error)")
            }
        }
        return calls
    }

    // MARK: Tools

    private static func unsupportedType(_ path: String, _ type: String) -> APIError {
        .invalid(
            path, code: "unsupported_value", "\(path) must be 'function'; '\(type.prefix(100))' is not supported.")
    }

    private static func tools(_ fields: inout Fields) throws(APIError) -> [ChatTool] {
        var tools: [ChatTool] = []
        for (index, value) in (try fields.array("tools") ?? []).enumerated() {
            var tool = try Fields(value, path: "tools[\(index)]")
            let type = try tool.requiredString("type")
            guard type == "function" else { throw unsupportedType(tool.path("type"), type) }
            var function = try tool.requiredObject("function")
            let name = try function.requiredString("name")
            guard !name.isEmpty, name.utf8.count <= 64,
                name.utf8.allSatisfy({
                    switch $0 {
                    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"),
                        UInt8(ascii: "."):
                        true
                    default: false
                    }
                })
            else {
                throw .invalid(
                    function.path("name"), code: "invalid_value",
                    "\(function.path("name")) must have 1 to 64 letters, digits, '_', '-' and '.'.")
            }
            guard !tools.contains(where: { $0.name == name }) else {
                throw .invalid(
                    function.path("name"), code: "invalid_value", "There is more than one tool '\(name)'.")
            }
            let description = try function.string("description") ?? ""
            let parameters = function.value("parameters") ?? ["type": "object", "properties": [:]]
            guard parameters.objectValue != nil else {
                throw wrongType(parameters, function.path("parameters"), "an object")
            }
            // Arguments always follow the schema.
            _ = try function.bool("strict")
            try function.finish()
            tool.ignore(["cache_control"])
            try tool.finish()
            tools.append(ChatTool(name: name, description: description, parameters: parameters.enforcedSchema))
        }
        return tools
    }

    private static func toolChoice(_ fields: inout Fields, _ tools: inout [ChatTool]) throws(APIError) -> ToolChoice {
        guard let value = fields.value("tool_choice") else { return tools.isEmpty ? .none : .automatic }
        func find(_ name: String, _ path: String) throws(APIError) -> ChatTool {
            guard let tool = tools.first(where: { $0.name == name }) else {
                throw .invalid(path, code: "invalid_value", "There is no tool '\(name.prefix(100))' in tools.")
            }
            return tool
        }
        func needTools() throws(APIError) {
            if tools.isEmpty {
                throw .invalid("tool_choice", code: "invalid_value", "tool_choice needs 'tools' to choose from.")
            }
        }
        func mode(_ text: String, _ path: String) throws(APIError) -> ToolChoice {
            switch text {
            case "none": return .none
            case "auto": return tools.isEmpty ? .none : .automatic
            case "required", "any":
                try needTools()
                return .required
            default:
                throw .invalid(
                    path, code: "invalid_value",
                    "\(path) must be none, auto, required or a function, not '\(text.prefix(100))'.")
            }
        }
        if let text = value.stringValue { return try mode(text, "tool_choice") }
        var choice = try Fields(value, path: "tool_choice")
        switch try choice.requiredString("type") {
        case "function":
            try needTools()
            var function = try choice.requiredObject("function")
            let tool = try find(function.requiredString("name"), function.path("name"))
            try function.finish()
            try choice.finish()
            return .function(tool.name)
        case "allowed_tools":
            try needTools()
            var allowed = try choice.requiredObject("allowed_tools")
            let result = try mode(allowed.requiredString("mode"), allowed.path("mode"))
            var kept: [ChatTool] = []
            for (index, value) in (try allowed.array("tools") ?? []).enumerated() {
                var tool = try Fields(value, path: "\(allowed.path("tools"))[\(index)]")
                _ = try tool.requiredString("type")
                var function = try tool.requiredObject("function")
                kept.append(try find(function.requiredString("name"), function.path("name")))
                try function.finish()
                try tool.finish()
            }
            try allowed.finish()
            try choice.finish()
            guard !kept.isEmpty else { throw allowed.missing("tools") }
            tools = kept
            return result
        case let type:
            throw .invalid(
                choice.path("type"), code: "unsupported_value",
                "\(choice.path("type")) must be function or allowed_tools, not '\(type.prefix(100))'.")
        }
    }

    // MARK: Thinking

    /// What OpenAI's `reasoning_effort` says, and what llama.cpp and vLLM let clients say to the chat template.
    private static func thinkingBudget(_ fields: inout Fields) throws(APIError) -> Int? {
        let effort = try fields.string("reasoning_effort")
        var switches: [(path: String, isOn: Bool)] = []
        if var variables = try fields.object("chat_template_kwargs") {
            for name in ChatThinking.variables {
                if let isOn = try variables.bool(name) { switches.append((variables.path(name), isOn)) }
            }
            try variables.finish()
        }
        let budget: Int?
        switch effort {
        case nil, "medium": budget = ThinkingBudget.moderate
        case "none": budget = nil
        case "minimal": budget = ThinkingBudget.minimal
        case "low": budget = ThinkingBudget.light
        case "high": budget = ThinkingBudget.deep
        case let other?:
            throw .invalid(
                "reasoning_effort", code: "invalid_value",
                "reasoning_effort must be none, minimal, low, medium or high, not '\(other.prefix(100))'.")
        }
        guard let first = switches.first else { return budget }
        let contradicts = switches.contains { $0.isOn != first.isOn } || effort != nil && first.isOn != (budget != nil)
        if contradicts {
            throw .invalid(
                first.path, code: "invalid_value",
                "\(switches.map(\.path).joined(separator: " and "))\(effort == nil ? "" : " and reasoning_effort") contradict "
                    + "each other: send one of them.")
        }
        return first.isOn ? budget : nil
    }

    // MARK: The answer's form

    private static func format(_ fields: inout Fields) throws(APIError) -> Format {
        guard var format = try fields.object("response_format") else { return .text }
        switch try format.requiredString("type") {
        case "text":
            try format.finish()
            return .text
        case "json_object":
            // llama.cpp's spelling of a schema.
            if let schema = format.value("schema") {
                try format.finish()
                return .schema(schema.enforcedSchema)
            }
            try format.finish()
            return .object
        case "json_schema":
            var wrapper = try format.requiredObject("json_schema")
            wrapper.ignore(["name", "description"])
            // The answer always follows the schema.
            _ = try wrapper.bool("strict")
            guard let schema = wrapper.value("schema") else { throw wrapper.missing("schema") }
            try wrapper.finish()
            try format.finish()
            return .schema(schema.enforcedSchema)
        case let type:
            throw .invalid(
                format.path("type"), code: "unsupported_value",
                "\(format.path("type")) must be text, json_object or json_schema, not '\(type.prefix(100))'.")
        }
    }
}
