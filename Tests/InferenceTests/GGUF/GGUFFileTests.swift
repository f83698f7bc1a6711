import Foundation
import Inference
import TestSupport
import Testing
import Tokenizers

@Suite("GGUF files")
struct GGUFFileTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func read(_ data: Data) throws -> GGUFFile {
        try data.write(to: folder.file())
        return try GGUFFile(folder.file())
    }

    private func sample() -> GGUFWriter {
        var writer = GGUFWriter()
        writer.pairs = [
            ("general.architecture", .string("llama")), ("u8", .uint8(200)), ("i8", .int8(-3)),
            ("u16", .uint16(65_000)),
            ("i16", .int16(-300)), ("u32", .uint32(4_000_000_000)), ("i32", .int32(-70_000)), ("u64", .uint64(1 << 60)),
            ("i64", .int64(-1 << 60)), ("f32", .float32(0.5)), ("f64", .float64(0.25)), ("yes", .bool(true)),
            ("text", .string("Grüße 🌍")), ("texts", .strings(["a", "", "ß"])), ("floats", .floats([1, -2.5])),
            ("ints", .int32s([1, -2, 3])), ("bytes", .uint8s([1, 255])), ("flags", .bools([true, false])),
            ("nested", .nested([.int32s([1]), .strings(["x"])])),
        ]
        writer.tensors = [
            .init("a", [4, 2], [1, 2, 3, 4, 5, 6, 7, 8]),
            .init("b", [32, 3], type: 8, data: [UInt8](repeating: 1, count: 34 * 3)),
        ]
        return writer
    }

    @Test("every kind of metadata and the tensor table come back", arguments: [UInt32(2), 3])
    func roundTrip(version: UInt32) throws {
        var writer = sample()
        writer.version = version
        let file = try read(writer.data())
        #expect(file.version == version)
        #expect(file.keys == writer.pairs.map(\.key))
        let expected: [String: GGUFValue] = [
            "general.architecture": .string("llama"), "u8": .uint8(200), "i8": .int8(-3), "u16": .uint16(65_000),
            "i16": .int16(-300), "u32": .uint32(4_000_000_000), "i32": .int32(-70_000), "u64": .uint64(1 << 60),
            "i64": .int64(-1 << 60), "f32": .float32(0.5), "f64": .float64(0.25), "yes": .bool(true),
            "text": .string("Grüße 🌍"), "texts": .strings(["a", "", "ß"]), "floats": .floats([1, -2.5]),
            "ints": .integers([1, -2, 3]), "bytes": .integers([1, 255]), "flags": .bools([true, false]),
            "nested": .arrays([.integers([1]), .strings(["x"])]),
        ]
        #expect(file.metadata == expected)
        let a = try #require(file.tensor("a"))
        #expect(a.type == .f32 && a.shape == [4, 2] && a.rows == 2 && a.columns == 4 && a.byteCount == 32)
        #expect(try file.floats(of: a) == [1, 2, 3, 4, 5, 6, 7, 8])
        let b = try #require(file.tensor("b"))
        #expect(b.type == .q8_0 && b.byteCount == 34 * 3 && b.offset % 32 == 0)
        #expect(file.tensor("c") == nil)
    }

    struct Fault: Sendable, CustomTestStringConvertible {
        var name: String
        var change: @Sendable (inout GGUFWriter) -> Void
        var isExpected: @Sendable (GGUFError) -> Bool
        var testDescription: String { name }
    }

    static let faults: [Fault] = [
        Fault(name: "version 1") {
            $0.version = 1
        } isExpected: {
            $0 == .unsupportedVersion(1)
        },
        Fault(name: "version 4") {
            $0.version = 4
        } isExpected: {
            $0 == .unsupportedVersion(4)
        },
        Fault(name: "big-endian") {
            $0.version = UInt32(3).byteSwapped
        } isExpected: {
            $0 == .bigEndian
        },
        Fault(name: "a count of pairs beyond the file") {
            $0.pairCount = .max
        } isExpected: {
            if case .implausible("the number of metadata pairs", .max, _) = $0 { true } else { false }
        },
        Fault(name: "a count of tensors beyond the file") {
            $0.tensorCount = 1 << 40
        } isExpected: {
            if case .implausible("the number of tensors", 1 << 40, _) = $0 { true } else { false }
        },
        Fault(name: "a string of 4 GB") {
            $0.pairs.append(("long", .raw(type: 8, bytes(UInt64(4) << 30))))
        } isExpected: {
            if case .implausible("the length of the value of long", _, _) = $0 { true } else { false }
        },
        Fault(name: "a string whose length is the greatest number") {
            $0.pairs.append(("long", .raw(type: 8, bytes(UInt64.max))))
        } isExpected: {
            if case .implausible = $0 { true } else { false }
        },
        Fault(name: "an array of too many numbers") {
            $0.pairs.append(("many", .raw(type: 9, bytes(UInt32(10)) + bytes(UInt64.max / 8))))
        } isExpected: {
            if case .implausible("the number of elements of many", _, _) = $0 { true } else { false }
        },
        Fault(name: "a string in an array beyond the file") {
            $0.pairs.append(("many", .raw(type: 9, bytes(UInt32(8)) + bytes(UInt64(1)) + bytes(UInt64(1) << 50))))
        } isExpected: {
            if case .implausible("the length of element 0 of many", _, _) = $0 { true } else { false }
        },
        Fault(name: "an unknown value type") {
            $0.pairs.append(("odd", .raw(type: 77, [0])))
        } isExpected: {
            $0 == .unknownValueType(key: "odd", type: 77)
        },
        Fault(name: "an unknown element type") {
            $0.pairs.append(("odd", .raw(type: 9, bytes(UInt32(13)) + bytes(UInt64(1)))))
        } isExpected: {
            $0 == .unknownValueType(key: "odd", type: 13)
        },
        Fault(name: "arrays in arrays in arrays") {
            let level = bytes(UInt32(9)) + bytes(UInt64(1))
            $0.pairs.append(("deep", .raw(type: 9, level + level + level + level + level + level)))
        } isExpected: {
            $0 == .nestingTooDeep(key: "deep")
        },
        Fault(name: "a Boolean of 2") {
            $0.pairs.append(("flag", .raw(type: 7, [2])))
        } isExpected: {
            $0 == .invalidBool(key: "flag")
        },
        Fault(name: "text that is no UTF-8") {
            $0.pairs.append(("text2", .raw(type: 8, bytes(UInt64(2)) + [0xc3, 0x28])))
        } isExpected: {
            $0 == .invalidUTF8(part: "the value of text2")
        },
        Fault(name: "an empty key") {
            $0.pairs.append(("", .uint8(1)))
        } isExpected: {
            $0 == .invalidKey("")
        },
        Fault(name: "a key that stands twice") {
            $0.pairs.append(("u8", .uint8(1)))
        } isExpected: {
            $0 == .duplicateKey("u8")
        },
        Fault(name: "an alignment of 0") {
            $0.pairs.append(("general.alignment", .uint32(0)))
        } isExpected: {
            $0 == .invalidAlignment(0)
        },
        Fault(name: "an alignment of 48") {
            $0.pairs.append(("general.alignment", .uint32(48)))
        } isExpected: {
            $0 == .invalidAlignment(48)
        },
        Fault(name: "an alignment of 2 GiB") {
            $0.pairs.append(("general.alignment", .uint32(1 << 31)))
        } isExpected: {
            $0 == .invalidAlignment(1 << 31)
        },
        Fault(name: "a tensor without dimensions") {
            $0.tensors[0].shape = []
        } isExpected: {
            if case .invalidShape("a", _) = $0 { true } else { false }
        },
        Fault(name: "a tensor of five dimensions") {
            $0.tensors[0].shape = [1, 1, 1, 1, 1]
        } isExpected: {
            if case .invalidShape("a", _) = $0 { true } else { false }
        },
        Fault(name: "a dimension of 0") {
            $0.tensors[0].shape = [4, 0]
        } isExpected: {
            if case .invalidShape("a", _) = $0 { true } else { false }
        },
        Fault(name: "a dimension beyond Int") {
            $0.tensors[0].shape = [1 << 63]
        } isExpected: {
            if case .invalidShape("a", _) = $0 { true } else { false }
        },
        Fault(name: "dimensions whose product overflows") {
            $0.tensors[0].shape = [4, 1 << 62, 1 << 62]
        } isExpected: {
            if case .invalidShape("a", _) = $0 { true } else { false }
        },
        Fault(name: "a size in bytes that overflows") {
            $0.tensors[0].shape = [1 << 61, 2]
        } isExpected: {
            if case .invalidShape("a", _) = $0 { true } else { false }
        },
        Fault(name: "a row that is no whole block") {
            $0.tensors[1].shape = [33, 3]
        } isExpected: {
            if case .invalidShape("b", _) = $0 { true } else { false }
        },
        Fault(name: "an unknown tensor type") {
            $0.tensors[1].type = 99
        } isExpected: {
            $0 == .unknownTensorType(tensor: "b", type: 99)
        },
        Fault(name: "a tensor that stands twice") {
            $0.tensors[1].name = "a"
        } isExpected: {
            $0 == .duplicateTensor("a")
        },
        Fault(name: "an offset between the steps") {
            $0.tensors[1].offset = 33
        } isExpected: {
            if case .invalidOffset("b", 33, _) = $0 { true } else { false }
        },
        Fault(name: "an offset beyond the file") {
            $0.tensors[1].offset = 1 << 40
        } isExpected: {
            if case .truncated("the data of the tensor b", _) = $0 { true } else { false }
        },
        Fault(name: "an offset beyond all files") {
            $0.tensors[1].offset = 1 << 50
        } isExpected: {
            if case .invalidOffset("b", _, _) = $0 { true } else { false }
        },
        Fault(name: "an offset beyond Int") {
            $0.tensors[1].offset = .max
        } isExpected: {
            if case .invalidOffset("b", .max, _) = $0 { true } else { false }
        },
        Fault(name: "tensors that overlap") {
            $0.tensors[1].offset = 0
        } isExpected: {
            $0 == .overlappingTensors("a", "b") || $0 == .overlappingTensors("b", "a")
        },
        Fault(name: "data that are not all there") {
            $0.tensors[1].data.removeLast()
        } isExpected: {
            if case .truncated("the data of the tensor b", _) = $0 { true } else { false }
        },
    ]

    @Test("a fault is named", arguments: faults)
    func fault(_ fault: Fault) throws {
        var writer = sample()
        fault.change(&writer)
        let error = #expect(throws: GGUFError.self) { try read(writer.data()) }
        let found = try #require(error)
        #expect(fault.isExpected(found), "\(found)")
        #expect(!found.description.isEmpty)
    }

    @Test("what is no GGUF file says so")
    func otherFiles() throws {
        #expect(throws: GGUFError.notGGUF) { try read(Data("PK\u{3}\u{4} and more".utf8)) }
        #expect(throws: GGUFError.truncated(part: "the header", offset: 0)) { try read(Data()) }
        #expect(throws: GGUFError.self) { try GGUFFile(folder.url) }
        #expect(throws: GGUFError.self) { try GGUFFile(folder.file("none.gguf")) }
    }

    @Test("a file that ends anywhere is an error, never a crash")
    func truncations() throws {
        let data = sample().data()
        for length in 0..<data.count {
            #expect(throws: GGUFError.self) { try read(data.prefix(length)) }
        }
    }

    @Test("a file with flipped bits is read or refused, never a crash", arguments: 0..<4)
    func bitFlips(seed: Int) throws {
        let whole = sample().data()
        var generator = SeededGenerator(seed: UInt64(seed))
        var refused = 0
        for _ in 0..<500 {
            var data = whole
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                data[Int.random(in: 0..<data.count, using: &generator)] ^=
                    1 << UInt8.random(in: 0..<8, using: &generator)
            }
            do { _ = try read(data) } catch is GGUFError { refused += 1 }
        }
        #expect(refused > 50)
    }
}
