import Foundation

/// What a GGUF file says of itself: its metadata and where its tensors lie. The tensors' data stay in the file.
///
/// Every count, length and offset is checked before it is used, with the size of the file as the bound, so that a
/// damaged or hostile file ends in a `GGUFError` and takes neither memory nor time out of proportion to its size.
/// Source: the GGUF specification (ggml, docs/gguf.md).
package struct GGUFFile: Sendable {
    package let url: URL
    package let version: UInt32
    /// In bytes.
    package let fileSize: Int
    package let metadata: [String: GGUFValue]
    /// The keys of `metadata` in the order of the file.
    package let keys: [String]
    /// In the order of the file.
    package let tensors: [GGUFTensor]
    /// The byte of the file at which the tensors' data begin.
    package let dataOffset: Int

    private let tensorIndices: [String: Int]

    package func tensor(_ name: String) -> GGUFTensor? { tensorIndices[name].map { tensors[$0] } }

    package init(_ url: URL) throws(GGUFError) {
        var reader = try GGUFReader(url)
        self.url = url
        fileSize = reader.fileSize

        let magic = try reader.bytes(4, in: "the header")
        guard magic == Array("GGUF".utf8) else { throw .notGGUF }
        version = try reader.integer(UInt32.self, in: "the header")
        if version != 0, version & 0xffff == 0 { throw .bigEndian }
        guard version == 2 || version == 3 else { throw .unsupportedVersion(version) }

        // A tensor takes at least 8 + 1 + 4 + 8 + 4 + 8 bytes, a metadata pair 8 + 1 + 4 + 1.
        let tensorCount = try reader.count(minimumBytes: 33, in: "the number of tensors")
        let pairCount = try reader.count(minimumBytes: 14, in: "the number of metadata pairs")

        var metadata: [String: GGUFValue] = [:]
        var keys: [String] = []
        for index in 0..<pairCount {
            let key = try reader.string(limit: 65_535, in: "metadata key \(index)")
            guard !key.isEmpty else { throw .invalidKey(key) }
            let value = try reader.value(key: key)
            guard metadata.updateValue(value, forKey: key) == nil else { throw .duplicateKey(key) }
            keys.append(key)
        }
        self.metadata = metadata
        self.keys = keys

        var alignment = 32
        if let value = metadata["general.alignment"] {
            guard let number = value.intValue, number >= 8, number <= 1 << 20, number & (number - 1) == 0 else {
                throw .invalidAlignment(UInt64(clamping: value.intValue ?? 0))
            }
            alignment = number
        }

        var tensors: [GGUFTensor] = []
        var tensorIndices: [String: Int] = [:]
        for index in 0..<tensorCount {
            let tensor = try reader.tensor(index: index, alignment: alignment)
            guard tensorIndices.updateValue(index, forKey: tensor.name) == nil else {
                throw .duplicateTensor(tensor.name)
            }
            tensors.append(tensor)
        }
        self.tensorIndices = tensorIndices

        // Bounded by the file's size, so that the sum cannot overflow.
        let dataOffset = (reader.position + alignment - 1) & ~(alignment - 1)
        self.dataOffset = dataOffset
        for index in tensors.indices {
            let (end, overflow) = tensors[index].offset.addingReportingOverflow(tensors[index].byteCount)
            guard !overflow, end <= max(0, fileSize - dataOffset) else {
                throw .truncated(part: "the data of the tensor \(tensors[index].name)", offset: fileSize)
            }
            tensors[index].offset += dataOffset
        }
        self.tensors = tensors
        try Self.checkOverlaps(tensors)
    }

    private static func checkOverlaps(_ tensors: [GGUFTensor]) throws(GGUFError) {
        let sorted = tensors.sorted { $0.offset < $1.offset }
        for (first, second) in zip(sorted, sorted.dropFirst()) where first.offset + first.byteCount > second.offset {
            throw .overlappingTensors(first.name, second.name)
        }
    }
}

/// One tensor of a GGUF file.
package struct GGUFTensor: Hashable, Sendable {
    package let name: String
    package let type: TensorType
    /// As in the file, fastest first: a matrix of `rows` × `columns` has the shape `[columns, rows]`.
    package let shape: [Int]
    /// The first byte of the data in the file.
    package internal(set) var offset: Int
    package let byteCount: Int

    package var columns: Int { shape.first ?? 1 }
    /// The product of all dimensions but the first.
    package var rows: Int { shape.dropFirst().reduce(1, *) }
    package var elementCount: Int { rows * columns }
}
