import Foundation
import JSON

/// What the user has decided about models: by environment variables, else by the configuration file.
package struct ModelSettings: Sendable {
    /// The folder of the model files.
    package var directory: String
    /// The model that is used where none is named: a name or a path. Nil leaves the choice to the store.
    package var model: String?
    /// Where that was said, for errors.
    package var modelSource = "the settings"
    /// False when the user has switched the models of this machine off.
    package var isEnabled = true
    private var cacheTypeSetting = Result<CacheType, ModelStoreError>.success(.f16)
    /// How engines keep keys and values, unless a program or command says otherwise. Only who wants to know it learns that it
    /// is wrong.
    package var cacheType: CacheType { get throws(ModelStoreError) { try cacheTypeSetting.get() } }

    package init(directory: String, model: String? = nil, isEnabled: Bool = true) {
        self.directory = directory
        self.model = model
        self.isEnabled = isEnabled
    }

    /// Reads `FM_MODELS_DIR`, `FM_MODEL`, `FM_CACHE_TYPE` and the configuration file, `foundationmodels/config.json` in
    /// `XDG_CONFIG_HOME` (`~/.config`), a JSON object with any of `models_dir`, `model`, `cache_type` (texts) and `enabled`
    /// (true or false).
    /// Models lie in `foundationmodels/models` in `XDG_DATA_HOME` (`~/.local/share`) when nothing else is said.
    package init(environment: [String: String]) throws(ModelStoreError) {
        let path = Self.configurationPath(environment: environment)
        let configuration = try Self.readConfiguration(path)
        func text(_ key: String) throws(ModelStoreError) -> String? {
            guard let value = configuration[key] else { return nil }
            guard let text = value.stringValue, !text.isEmpty else {
                throw .invalidConfiguration(path: path, reason: "'\(key)' must be a text, not \(value.text())")
            }
            return (text as NSString).expandingTildeInPath
        }
        let keys = ["models_dir", "model", "cache_type", "enabled"]
        if let unknown = configuration.keys.first(where: { !keys.contains($0) }) {
            throw .invalidConfiguration(
                path: path, reason: "it has no key '\(unknown)'; its keys are models_dir, model, cache_type and enabled"
            )
        }
        let configuredDirectory = try text("models_dir")
        directory =
            Self.value("FM_MODELS_DIR", environment) ?? configuredDirectory
            ?? "\(Self.base("XDG_DATA_HOME", ".local/share", environment))/foundationmodels/models"
        let configuredModel = try text("model")
        let named = Self.value("FM_MODEL", environment)
        model = named ?? configuredModel
        modelSource = named != nil ? "FM_MODEL" : "\"model\" in '\(path)'"
        let variable = "FM_CACHE_TYPE"
        if let name = Self.value(variable, environment) {
            cacheTypeSetting = Self.cacheType(
                name, else: .invalidVariable(name: variable, reason: "it must be \(CacheType.names), not '\(name)'"))
        } else if let name = try text("cache_type") {
            cacheTypeSetting = Self.cacheType(
                name,
                else: .invalidConfiguration(
                    path: path, reason: "'cache_type' must be \(CacheType.names), not '\(name)'"))
        }
        if let enabled = configuration["enabled"] {
            guard let value = enabled.boolValue else {
                throw .invalidConfiguration(path: path, reason: "'enabled' must be true or false")
            }
            isEnabled = value
        }
    }

    private static func cacheType(_ name: String, else error: ModelStoreError) -> Result<CacheType, ModelStoreError> {
        CacheType(rawValue: name).map(Result.success) ?? .failure(error)
    }

    package static func configurationPath(environment: [String: String]) -> String {
        "\(base("XDG_CONFIG_HOME", ".config", environment))/foundationmodels/config.json"
    }

    /// Writes the default model into the configuration file, leaving its other keys alone; nil removes it.
    package static func setDefaultModel(_ model: String?, environment: [String: String]) throws(ModelStoreError) {
        let path = configurationPath(environment: environment)
        var configuration = try readConfiguration(path)
        configuration["model"] = model.map(JSONValue.string)
        let directory = (path as NSString).deletingLastPathComponent
        try Folder.create(directory)
        try AtomicFile.write(JSONValue.object(configuration).text(indent: 2) + "\n", to: path)
    }

    private static func readConfiguration(_ path: String) throws(ModelStoreError) -> JSONObject {
        guard FileManager.default.fileExists(atPath: path) else { return JSONObject() }
        guard let data = FileManager.default.contents(atPath: path) else { throw .system(reading: path) }
        let value: JSONValue
        // Some editors put a byte order mark before the text.
        let mark: [UInt8] = [0xef, 0xbb, 0xbf]
        do { value = try JSONValue(parsing: Array(data.starts(with: mark) ? data.dropFirst(3) : data)) } catch {
            throw .invalidConfiguration(path: path, reason: error.description)
        }
        guard let object = value.objectValue else {
            throw .invalidConfiguration(path: path, reason: "it must be a JSON object")
        }
        return object
    }

    /// A variable that is set to something; a path in it may begin with `~`.
    private static func value(_ name: String, _ environment: [String: String]) -> String? {
        guard let value = environment[name], !value.isEmpty else { return nil }
        return value.hasPrefix("~") ? (value as NSString).expandingTildeInPath : value
    }

    /// A base folder as the XDG Base Directory Specification finds it: a relative path in the variable does not count.
    private static func base(_ variable: String, _ fallback: String, _ environment: [String: String]) -> String {
        if let value = environment[variable], value.hasPrefix("/") { return value }
        return "\(value("HOME", environment) ?? NSHomeDirectory())/\(fallback)"
    }
}
