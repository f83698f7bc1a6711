import Foundation
import Inference
import JSON
import Tokenizers

extension ModelServer {
    /// Vectors of texts. The thread of the connection computes them, with the others of the model's pool.
    func embeddings(_ request: HTTPRequest, _ client: String) throws(APIError) -> HTTPResponse {
        let wanted = try EmbeddingRequest(object(request))
        let embedder = try embeddingModel(wanted.model)
        let model = embedder.model
        if let dimensions = wanted.dimensions, dimensions > model.width {
            throw .invalid(
                "dimensions", code: "invalid_value",
                "dimensions must be a whole number, 1 to \(model.width) for this model.")
        }
        let place = try gate.enter(1)
        defer { place.release() }
        var texts: [[TokenID]] = []
        for (index, input) in wanted.inputs.enumerated() {
            texts.append(try tokens(of: input, wanted.path(index), model))
        }
        let count = texts.reduce(0) { $0 + $1.count }

        let connection = request.head.connection
        let deadline = ContinuousClock.now + configuration.timeLimit
        let vectors: [[Float]]?
        do throws(InferenceError) {
            vectors = try model.vectors(of: texts, dimensions: wanted.dimensions) {
                connection.isGone || ContinuousClock.now > deadline || self.isCutOff
            }
        } catch {
            throw .failure("The model failed: \(error).")
        }
        guard let vectors else {
            if isCutOff { throw .shuttingDown }
            guard ContinuousClock.now <= deadline else {
                throw RunningAnswers.timeout(configuration.timeLimit)
            }
            throw .clientGone
        }
        metrics.noteEmbeddings(tokens: count)
        accounts.use(count, by: client)
        var data: [JSONValue] = []
        for (index, vector) in vectors.enumerated() {
            let numbers: JSONValue =
                wanted.isBase64
                ? Self.base64(vector) : .array(vector.map { JSONNumber($0).map(JSONValue.number) ?? .null })
            data.append(["object": "embedding", "index": .number(JSONNumber(index)), "embedding": numbers])
        }
        return Self.json([
            "object": "list", "data": .array(data), "model": .string(embedder.name),
            "usage": ["prompt_tokens": .number(JSONNumber(count)), "total_tokens": .number(JSONNumber(count))],
        ])
    }

    private func tokens(
        of input: EmbeddingRequest.Input, _ path: String, _ model: EmbeddingModel
    ) throws(APIError) -> [TokenID] {
        let tokens: [TokenID]
        switch input {
        case .text(let text): tokens = model.tokens(of: text)
        case .tokens(let list): tokens = list
        }
        let size = model.description.vocabularySize
        if let token = tokens.first(where: { $0 < 0 || Int($0) >= size }) {
            throw .invalid(
                path, code: "invalid_value", "\(path) has the token \(token); the vocabulary has \(size).")
        }
        guard tokens.count <= model.contextSize else {
            throw .invalid(
                path, code: "context_length_exceeded",
                "\(path) has \(tokens.count) tokens; this model takes \(model.contextSize) of a text. Shorten it.")
        }
        return tokens
    }

    private static func base64(_ vector: [Float]) -> JSONValue {
        var bytes = Data(capacity: 4 * vector.count)
        for value in vector { withUnsafeBytes(of: value.bitPattern.littleEndian) { bytes.append(contentsOf: $0) } }
        return .string(bytes.base64EncodedString())
    }
}
