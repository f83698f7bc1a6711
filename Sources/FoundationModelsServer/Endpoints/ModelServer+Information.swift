import Foundation
import Inference
import JSON
import Tokenizers

extension ModelServer {
    /// What is known of the models, by name.
    private var modelObjects: [(name: String, value: JSONValue)] {
        func object(_ name: String, _ description: ModelDescription, contextSize: Int) -> (String, JSONValue) {
            (
                name,
                [
                    "id": .string(name), "object": "model", "created": .number(JSONNumber(created)),
                    "owned_by": "foundationmodels", "context_window": .number(JSONNumber(contextSize)),
                    "max_model_len": .number(JSONNumber(contextSize)),
                    "architecture": .string(description.architecture),
                    "parameter_count": .number(JSONNumber(description.parameterCount)),
                ]
            )
        }
        return [
            engine.map { object(configuration.modelName, $0.description, contextSize: $0.contextSize) },
            embedder.map { object($0.name, $0.model.description, contextSize: $0.model.contextSize) },
        ].compactMap(\.self)
    }

    func models() -> HTTPResponse { Self.json(["object": "list", "data": .array(modelObjects.map(\.value))]) }

    func model(_ name: String) throws(APIError) -> HTTPResponse {
        guard let found = modelObjects.first(where: { $0.name == name }) else { throw unknownModel(name) }
        return Self.json(found.value)
    }

    /// 503 from the signal on, so that what balances a load sends no more.
    func health() -> HTTPResponse {
        let body: JSONValue = [
            "status": isShuttingDown ? "shutting down" : "ok",
            "active": .number(JSONNumber(gate.admitted - gate.waiting)), "waiting": .number(JSONNumber(gate.waiting)),
        ]
        return HTTPResponse(isShuttingDown ? 503 : 200, contentType: "application/json", body.text())
    }

    func metricsText() -> HTTPResponse {
        HTTPResponse(
            200, contentType: "text/plain; version=0.0.4; charset=utf-8",
            metrics.text(
                active: gate.admitted - gate.waiting, waiting: gate.waiting, connections: connections,
                memory: Self.residentMemory()))
    }

    /// Bytes, from the second field of /proc/self/statm.
    private static func residentMemory() -> Int? {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return nil }
        let fields = text.split(separator: " ")
        return fields.count > 1 ? Int(fields[1]).map { $0 * sysconf(Int32(_SC_PAGESIZE)) } : nil
    }

    /// The tokens of a text (`content` or `prompt`) or of a conversation (`messages`).
    func tokenize(_ request: HTTPRequest) throws(APIError) -> HTTPResponse {
        let object = try object(request)
        let tokens: [TokenID]
        let size: Int
        if object["messages"] != nil {
            let chat = try ChatCompletionRequest(object)
            let engine = try textEngine(chat.model)
            size = engine.contextSize
            do {
                tokens = try engine.tokens(
                    of: chat.messages.answering(schema: nil), thinks: chat.thinkingBudget != nil, isBounded: false)
            } catch {
                throw ChatAnswer.error(error)
            }
        } else {
            var fields = Fields(object)
            let name = try fields.string("model")
            let content = try fields.string("content")
            let prompt = try fields.string("prompt")
            guard let text = content ?? prompt else { throw fields.missing("content") }
            let addsSpecial = try fields.bool("add_special") ?? false
            let parsesSpecial = try fields.bool("parse_special") ?? true
            try fields.finish()
            let tokenizer: Tokenizer
            if let embedder, name == embedder.name || engine == nil && name == nil {
                (tokenizer, size) = (embedder.model.tokenizer, embedder.model.contextSize)
            } else {
                let engine = try textEngine(name)
                (tokenizer, size) = (engine.tokenizer, engine.contextSize)
            }
            tokens = tokenizer.encode(
                text, parsesSpecial: parsesSpecial, addsBOS: addsSpecial, addsEOS: addsSpecial)
        }
        return Self.json([
            "tokens": .array(tokens.map { .number(JSONNumber(Int($0))) }),
            "count": .number(JSONNumber(tokens.count)), "max_model_len": .number(JSONNumber(size)),
        ])
    }
}
