// The whole of it: a session, a question, an answer.
import FoundationModels

let session = LanguageModelSession()
let response = try await session.respond(to: "Name three rivers of Europe.")
print(response.content)
