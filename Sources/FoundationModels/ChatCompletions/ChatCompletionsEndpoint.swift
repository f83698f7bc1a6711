import Foundation
import Networking

/// A server that speaks the Chat Completions protocol, and the model on it.
package struct ChatCompletionsEndpoint: Hashable, Sendable {
    /// The model's name, as the server knows it.
    package var modelName: String
    /// The address without the method's part, such as `https://example.org` or `http://localhost:8080/v1`.
    package var baseURL: URL
    /// Sent with each request; they win over the protocol's own.
    package var headers: [String: String]
    package var limits: HTTPLimits

    package init(
        modelName: String, baseURL: URL, headers: [String: String] = [:], limits: HTTPLimits = HTTPLimits()
    ) {
        self.modelName = modelName
        self.baseURL = baseURL
        self.headers = headers
        self.limits = limits
    }

    /// The address of a method, such as `chat/completions`. The version `v1` is put before it unless the base address has a version,
    /// and a base address that names the method already stays as it is.
    package func url(of method: String) -> String {
        guard var components = URLComponents(url: baseURL, resolvingAgainstBaseURL: true) else {
            return baseURL.absoluteString
        }
        var path = components.path
        while path.hasSuffix("/") { path.removeLast() }
        if path.hasSuffix("/chat/completions") { path.removeLast("/chat/completions".count) }
        if path.range(of: #"/v[0-9]+[a-z0-9]*(/|$)"#, options: .regularExpression) == nil { path += "/v1" }
        components.path = path + "/" + method
        return components.url?.absoluteString ?? baseURL.absoluteString
    }
}
