import Foundation
import JSON

/// The server that stands behind `PrivateCloudComputeLanguageModel`, as the user has configured it.
package struct PrivateCloudConfiguration: Hashable, Sendable {
    /// What is wrong with what the user wrote.
    package struct Invalid: Swift.Error, Hashable, CustomStringConvertible {
        package let description: String
    }

    package var endpoint: ChatCompletionsEndpoint
    /// Tokens that the model reads at once; nil when the server is to be asked.
    package var contextSize: Int?
    /// Codes of the languages in which the model answers well; nil when nothing is said.
    package var languages: [String]?

    package init(endpoint: ChatCompletionsEndpoint, contextSize: Int? = nil, languages: [String]? = nil) {
        self.endpoint = endpoint
        self.contextSize = contextSize
        self.languages = languages
    }

    /// Stands where no server is named and `FM_SIMULATE` says what one would; it is asked nothing.
    static let simulated = PrivateCloudConfiguration(
        endpoint: ChatCompletionsEndpoint(modelName: "simulated", baseURL: URL(fileURLWithPath: "/dev/null")))

    /// The configuration file, `foundationmodels/private-cloud.json` in `XDG_CONFIG_HOME` (`~/.config`).
    package static func path(environment: [String: String]) -> String {
        let base = environment["XDG_CONFIG_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        let home = environment["HOME"].flatMap { $0.isEmpty ? nil : $0 } ?? NSHomeDirectory()
        return "\(base ?? "\(home)/.config")/foundationmodels/private-cloud.json"
    }

    private static let keys = ["url", "model", "api_key", "api_key_variable", "headers", "context_size", "languages"]

    /// Reads the variables `FM_CLOUD_URL`, `FM_CLOUD_MODEL`, `FM_CLOUD_API_KEY` and `FM_CLOUD_CONTEXT_SIZE`, each of which goes before
    /// the same key of the configuration file, a JSON object of `url`, `model`, `api_key` (or `api_key_variable`, the name
    /// of the variable that has it), `headers`, `context_size` and `languages`.
    ///
    /// - Returns: nil when no server is named anywhere.
    package static func read(environment: [String: String]) throws(Invalid) -> PrivateCloudConfiguration? {
        let path = path(environment: environment)
        let file = try readFile(path)
        func variable(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        func text(_ key: String) throws(Invalid) -> String? {
            guard let value = file[key] else { return nil }
            guard let text = value.stringValue, !text.isEmpty else {
                throw Invalid(description: "\(path): '\(key)' must be a text, not \(value.text()).")
            }
            return text
        }

        let urlText = try text("url")
        guard let address = variable("FM_CLOUD_URL") ?? urlText else { return nil }
        guard let url = URL(string: address), let scheme = url.scheme?.lowercased(), url.host?.isEmpty == false,
            scheme == "http" || scheme == "https"
        else {
            throw Invalid(description: "The server's address \"\(address)\" is no http or https URL.")
        }
        let modelText = try text("model")
        guard let model = variable("FM_CLOUD_MODEL") ?? modelText else {
            throw Invalid(
                description: "No model is named for \(address): set FM_CLOUD_MODEL, or 'model' in \(path).")
        }

        var headers: [String: String] = [:]
        if let given = file["headers"] {
            guard let object = given.objectValue else {
                throw Invalid(description: "\(path): 'headers' must be an object of texts.")
            }
            for (name, value) in object {
                guard let value = value.stringValue else {
                    throw Invalid(description: "\(path): the header '\(name)' must be a text.")
                }
                headers[name] = value
            }
        }
        let keyVariable = try text("api_key_variable")
        let keyText = try text("api_key")
        if let key = variable("FM_CLOUD_API_KEY") ?? keyVariable.flatMap(variable) ?? keyText {
            headers["Authorization"] = "Bearer \(key)"
        } else if let keyVariable {
            throw Invalid(
                description: "The variable \(keyVariable), which is to hold the key of \(address), is not set.")
        }

        var result = PrivateCloudConfiguration(
            endpoint: ChatCompletionsEndpoint(modelName: model, baseURL: url, headers: headers))
        if let size = variable("FM_CLOUD_CONTEXT_SIZE").map({ Int($0) })
            ?? file["context_size"].map(\.numberValue?.intValue)
        {
            guard let size, size > 0 else {
                throw Invalid(description: "The context size of \(address) must be a whole number above 0.")
            }
            result.contextSize = size
        }
        if let languages = file["languages"] {
            let codes = languages.arrayValue?.compactMap(\.stringValue)
            guard let codes, codes.count == languages.arrayValue?.count else {
                throw Invalid(description: "\(path): 'languages' must be a list of language codes.")
            }
            result.languages = codes
        }
        return result
    }

    private static func readFile(_ path: String) throws(Invalid) -> JSONObject {
        guard FileManager.default.fileExists(atPath: path) else { return JSONObject() }
        guard let data = FileManager.default.contents(atPath: path) else {
            throw Invalid(description: "\(path) cannot be read.")
        }
        let value: JSONValue
        do throws(JSONError) { value = try JSONValue(parsing: Array(data)) } catch {
            throw Invalid(description: "\(path) is no JSON: \(error).")
        }
        guard let object = value.objectValue else { throw Invalid(description: "\(path) must be a JSON object.") }
        if let unknown = object.keys.first(where: { !keys.contains($0) }) {
            throw Invalid(description: "\(path) has no key '\(unknown)'; its keys are \(keys.joined(separator: ", ")).")
        }
        return object
    }
}
