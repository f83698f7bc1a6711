extension ModelStore {
    /// What the model is when none is named.
    package enum Choice: Hashable, Sendable {
        case ready(Model)
        /// The model that would be used is not on this machine; `name` is the one to pull.
        case notDownloaded(name: String)
        /// The user has switched the models off in the configuration file.
        case switchedOff
        /// No model of the catalogue fits this machine's memory.
        case tooLittleMemory(needed: Int64, available: Int64)
    }

    /// The default model: what `FM_MODEL` or the configuration file name, else the best installed one that fits this machine's
    /// memory, else the best of the catalogue that would.
    ///
    /// Best is the catalogue's order among the models that follow instructions, then what the user has pulled from
    /// elsewhere, largest first. Files that cannot be read as a model are passed over. A model that the catalogue has for
    /// tests, or that follows no instructions, is used only when it is named.
    ///
    /// - Throws: When the model that the user has named is none, or the file of a path cannot be read.
    package func defaultModel(memory: Int64 = MachineMemory.total) throws(ModelStoreError) -> Choice {
        guard settings.isEnabled else { return .switchedOff }
        if let named = settings.model {
            do throws(ModelStoreError) { return .ready(try resolve(named)) } catch {
                if case .notInstalled(let name) = error { return .notDownloaded(name: name) }
                throw .wrongDefault(source: settings.modelSource, error)
            }
        }
        let installed = installed().filter { MachineMemory.fits(fileSize: $0.size, memory: memory) }
        for entry in catalogue.entries where entry.purpose == .general {
            if let model = installed.first(where: { $0.name == entry.name }), damage(of: model) == nil {
                return .ready(model)
            }
        }
        let others = installed.filter { catalogue[$0.name] == nil }.sorted { $0.size > $1.size }
        if let largest = others.first(where: { textFault(of: $0) == nil }) { return .ready(largest) }
        if let entry = catalogue.defaultEntry(memory: memory) { return .notDownloaded(name: entry.name) }
        let smallest = catalogue.entries.filter { $0.purpose == .general }.map(\.size).min() ?? 0
        // Rounded up, so that what is said to be needed is enough.
        return .tooLittleMemory(needed: (smallest + MachineMemory.overhead + 2) / 3 * 4, available: memory)
    }
}
