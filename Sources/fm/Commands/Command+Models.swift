import Foundation
import Inference
import JSON

extension Command {
    package static let models = Command(
        name: "models",
        summary: "List the models that are here and that can be had.",
        usage: ["[--json | --quiet]", "--path NAME|PATH", "--use NAME|PATH", "--use-best"],
        options: [
            Option("--json", help: "Write the list as JSON."),
            Option("--quiet", "-q", help: "Write only the names of the models that are here."),
            Option("--path", value: "NAME|PATH", help: "Write the path of a model's file."),
            Option("--use", value: "NAME|PATH", help: "Make a model the default, in the configuration file."),
            Option("--use-best", help: "Leave the default to the store again: the best that fits the memory."),
        ],
        discussion: """
            The default is marked with *. FM_MODEL, when set, comes before the configuration file.
            """
    ) { arguments, context in
        try arguments.requireAtMostOne(of: "--json", "--quiet", "--path", "--use", "--use-best")
        if arguments.has("--use-best") {
            return try ModelSettings.setDefaultModel(nil, environment: context.environment)
        }
        let store = try ModelStore(environment: context.environment)
        if let name = arguments["--use"] {
            let model = try store.resolve(name)
            // A path must mean the same from every folder.
            let value = store.installedModel(name) != nil ? name : URL(fileURLWithPath: model.path).path
            return try ModelSettings.setDefaultModel(value, environment: context.environment)
        }
        if let name = arguments["--path"] {
            return context.output.line(try store.resolve(name).path)
        }
        if arguments.has("--quiet") {
            for model in store.installed() { context.output.line(model.name) }
            return
        }
        let list = ModelList(store)
        if let fault = list.defaultFault { context.messages.failure(fault.description) }
        context.output.write(arguments.has("--json") ? list.json + "\n" : list.text)
    }
}

/// The models that are here, then those of the catalogue that are not.
package struct ModelList {
    struct Row {
        var name: String
        var size: Int64
        var isInstalled: Bool
        var isDefault: Bool
        var summary: String
        var path: String?
        /// Why the file cannot be read as a model.
        var damage: String?
    }

    var rows: [Row]
    var directory: String
    /// A path that is the default and lies outside the store.
    var outsideDefault: String?
    /// Why there is no default; whoever has to choose another one needs the list all the same.
    var defaultFault: ModelStoreError?

    package init(_ store: ModelStore) {
        var choice: ModelStore.Choice?
        do throws(ModelStoreError) { choice = try store.defaultModel() } catch { defaultFault = error }
        func isDefault(_ name: String, path: String?) -> Bool {
            switch choice {
            case .ready(let model): model.path == path
            case .notDownloaded(name): true
            default: false
            }
        }
        let installed = store.installed()
        rows = installed.map { model in
            let summary =
                store.catalogue[model.name]?.summary ?? store.recordedSource(model.name).map { "from \($0)" } ?? ""
            return Row(
                name: model.name, size: model.size, isInstalled: true,
                isDefault: isDefault(model.name, path: model.path), summary: summary, path: model.path,
                damage: store.damage(of: model))
        }
        let names = Set(installed.map(\.name))
        rows += store.catalogue.entries.filter { !names.contains($0.name) }.map { entry in
            Row(
                name: entry.name, size: entry.size, isInstalled: false, isDefault: isDefault(entry.name, path: nil),
                summary: entry.summary, path: nil)
        }
        directory = store.directory
        if case .ready(let model) = choice, !installed.contains(model) { outsideDefault = model.path }
    }

    package var text: String {
        let width = rows.map(\.name.count).max() ?? 0
        var text = ""
        for row in rows {
            let name = row.name + String(repeating: " ", count: width - row.name.count)
            let size = ByteText.size(row.size)
            let padding = String(repeating: " ", count: max(0, 8 - size.count))
            let state = row.damage != nil ? "damaged  " : row.isInstalled ? "here     " : "not here "
            let about = TerminalText.printable(row.damage ?? row.summary)
            text +=
                "\(row.isDefault ? "*" : " ") \(name)  \(padding)\(size)  \(state) \(about)"
                .trimmingCharacters(in: .newlines) + "\n"
        }
        if let outsideDefault { text += "* \(outsideDefault)\n" }
        return text
    }

    package var json: String {
        let models = rows.map { row in
            JSONValue.object([
                "name": .string(row.name), "size": .number(JSONNumber(Int(row.size))),
                "installed": .bool(row.isInstalled),
                "default": .bool(row.isDefault), "summary": .string(row.summary),
                "path": row.path.map(JSONValue.string) ?? .null,
                "damage": row.damage.map(JSONValue.string) ?? .null,
            ])
        }
        return JSONValue.object(["directory": .string(directory), "models": .array(models)]).text(indent: 2)
    }
}
