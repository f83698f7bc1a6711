import Foundation
import Inference
import JSON
import Tokenizers

extension ModelServer {
    func chatCompletions(_ request: HTTPRequest, _ client: String) throws(APIError) -> HTTPResponse {
        let chat = try ChatCompletionRequest(object(request))
        let engine = try textEngine(chat.model)
        let place = try gate.enter(chat.parameters.count)
        let answer = try ChatAnswer(chat, engine, adapter: configuration.adapter, grammars)
        let format = ChatFormat(
            envelope: envelope("chatcmpl-", "chat.completion", chunk: "chat.completion.chunk"),
            tokenizer: engine.tokenizer, hasLogprobs: chat.logprobCount != nil)
        return respond(
            request, client, place, count: chat.parameters.count, chat.parameters, format
        ) { number, send in await answer.run(number, send) }
    }

    func completions(_ request: HTTPRequest, _ client: String) throws(APIError) -> HTTPResponse {
        let completion = try CompletionRequest(object(request))
        let engine = try textEngine(completion.model)
        let parameters = completion.parameters
        let place = try gate.enter(completion.prompts.count * parameters.count)
        var generations: [GenerationRequest] = []
        var echoes: [String] = []
        for prompt in completion.prompts {
            let tokens: [TokenID]
            switch prompt {
            case .text(let text):
                do { try engine.checkLength(of: text) } catch { throw ChatAnswer.error(error) }
                tokens = engine.tokenizer.encode(text, parsesSpecial: true, addsBOS: true)
            case .tokens(let list): tokens = list
            }
            if tokens.isEmpty { throw ChatAnswer.error(InferenceError.emptyPrompt) }
            let size = engine.description.vocabularySize
            if let token = tokens.first(where: { $0 < 0 || Int($0) >= size }) {
                throw ChatAnswer.error(InferenceError.invalidToken(token, vocabularySize: size))
            }
            guard tokens.count < engine.contextSize else {
                throw ChatAnswer.error(
                    InferenceError.contextSizeExceeded(tokenCount: tokens.count + 1, contextSize: engine.contextSize))
            }
            var echo = ""
            if completion.echoes {
                echo =
                    if case .text(let text) = prompt { text } else {
                        engine.tokenizer.decode(tokens, skipsSpecial: false)
                    }
            }
            for number in 0..<parameters.count {
                var generation = GenerationRequest(
                    prompt: tokens, sampling: parameters.sampling(of: number),
                    maximumTokens: parameters.maximumTokens, stopStrings: parameters.stops)
                generation.logprobCount = completion.logprobCount
                generation.adapter = configuration.adapter
                generations.append(generation)
                echoes.append(echo)
            }
        }
        let format = CompletionFormat(
            envelope: envelope("cmpl-", "text_completion", chunk: "text_completion"), tokenizer: engine.tokenizer,
            hasLogprobs: completion.logprobCount != nil, echoes: echoes)
        let all = generations
        return respond(request, client, place, count: all.count, parameters, format) { number, send in
            var usage = AnswerUsage()
            do {
                let reason = try await engine.stream(all[number], &usage, send)
                send(.finished(AnswerEnd(reason: reason, usage: usage)))
            } catch is CancellationError {
                // Nobody is there to be told.
            } catch {
                send(.failed(ChatAnswer.error(error)))
            }
        }
    }

    private func envelope(_ prefix: String, _ object: String, chunk: String) -> Envelope {
        Envelope(
            id: prefix + Identifiers.make(), object: object, chunkObject: chunk,
            created: Int(Date().timeIntervalSince1970), model: configuration.modelName)
    }

    /// Makes the answers and gives them as the request wants them: whole, or as they come.
    private func respond(
        _ request: HTTPRequest, _ client: String, _ place: AdmissionGate.Place, count: Int,
        _ parameters: GenerationParameters, _ format: any AnswerFormat,
        make: @escaping @Sendable (Int, @Sendable (AnswerEvent) -> Void) async -> Void
    ) -> HTTPResponse {
        let (metrics, accounts) = (metrics, accounts)
        let answers = RunningAnswers(
            count: count, answersPerPrompt: parameters.count, connection: request.head.connection, place: place,
            timeLimit: configuration.timeLimit, isCutOff: { [weak self] in self?.isCutOff ?? true },
            onEnd: { outcome in
                metrics.note(outcome)
                accounts.use(outcome.usage.prompt + outcome.usage.completion, by: client)
            }, make: make)
        do throws(HTTPClientGone) {
            if parameters.isStream {
                // The status is sent with the first event, so that what fails before it has a status of its own.
                let first = try answers.next() ?? []
                if case .failed(let error)? = first.first?.event {
                    answers.end()
                    return error.response
                }
                return HTTPResponse(
                    200, headers: [("Content-Type", "text/event-stream"), ("Cache-Control", "no-store")],
                    body: .stream(
                        EventStream(answers, format, includesUsage: parameters.includesUsage, first: first)))
            }
            var collected = [CollectedAnswer](repeating: CollectedAnswer(), count: count)
            while let events = try answers.next() {
                for event in events {
                    if case .failed(let error) = event.event {
                        answers.end()
                        return error.response
                    }
                    collected[event.answer].append(event.event)
                }
            }
            answers.end()
            return Self.json(
                format.envelope.whole(
                    collected.enumerated().map { format.choice($0.offset, $0.element) }, usage: answers.usage))
        } catch {
            answers.end()
            return APIError.clientGone.response
        }
    }
}
