/// How far a text that may stop early has come.
package struct PartialJSON: Sendable {
    /// The value as far as it goes: an open string holds what has come of it, an open object the members that have begun.
    package let value: JSONValue
    /// How many values are still open, counted from the root along last children. 0 when the text is complete.
    /// `{"a": [1, 2` has 3 (the object, the array, the number), `{"a": [1, 2]` has 1.
    package let openDepth: Int

    package var isComplete: Bool { openDepth == 0 }
}

extension JSONValue {
    /// The depth of nesting at which a text is refused unless another limit is given.
    package static let defaultDepthLimit = 512

    /// Reads a text as RFC 8259 has it.
    /// - Parameter allowsRepeatedKeys: Whether an object may have a key twice; the last value counts then.
    package init(
        parsing text: String, depthLimit: Int = defaultDepthLimit, allowsRepeatedKeys: Bool = true
    ) throws(JSONError) {
        var parser = JSONParser(
            bytes: Array(text.utf8), allowsPartial: false, depthLimit: depthLimit,
            allowsRepeatedKeys: allowsRepeatedKeys)
        self = try parser.parseDocument().value
    }

    package init(parsing bytes: [UInt8], depthLimit: Int = defaultDepthLimit) throws(JSONError) {
        var parser = JSONParser(bytes: bytes, allowsPartial: false, depthLimit: depthLimit)
        self = try parser.parseDocument().value
    }

    /// Reads a text that may end anywhere, as the output of a model does while it is made. An end inside a key, or before a
    /// key's value has begun, leaves that member out; an end inside a string keeps what has come of it, up to the
    /// last whole character.
    package static func parsePartial(
        _ text: String, depthLimit: Int = defaultDepthLimit
    ) throws(JSONError) -> PartialJSON {
        try parsePartial(Array(text.utf8), depthLimit: depthLimit)
    }

    package static func parsePartial(
        _ bytes: [UInt8], depthLimit: Int = defaultDepthLimit
    ) throws(JSONError) -> PartialJSON {
        var parser = JSONParser(bytes: bytes, allowsPartial: true, depthLimit: depthLimit)
        return try parser.parseDocument()
    }
}

/// A recursive descent over UTF-8 bytes.
struct JSONParser {
    let bytes: [UInt8]
    /// Whether the end of the text may stand anywhere.
    let allowsPartial: Bool
    let depthLimit: Int
    let allowsRepeatedKeys: Bool
    private var position = 0
    private var openDepth = 0

    init(bytes: [UInt8], allowsPartial: Bool, depthLimit: Int, allowsRepeatedKeys: Bool = true) {
        self.bytes = bytes
        self.allowsPartial = allowsPartial
        self.depthLimit = depthLimit
        self.allowsRepeatedKeys = allowsRepeatedKeys
    }

    mutating func parseDocument() throws(JSONError) -> PartialJSON {
        skipSpace()
        let value = try parseValue(depth: 0)
        skipSpace()
        guard position == bytes.count else { throw error(.trailingBytes) }
        guard let value else { throw error(.unexpectedEnd) }
        return PartialJSON(value: value, openDepth: openDepth)
    }

    private func error(_ reason: JSONError.Reason) -> JSONError { JSONError(reason: reason, offset: position) }

    private var atEnd: Bool { position == bytes.count }

    private mutating func skipSpace() {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x09, 0x0a, 0x0d: position += 1
            default: return
            }
        }
    }

    /// Notes that the value at `depth` is open because the text ended. Only called at the end of the text.
    private mutating func leaveOpen(depth: Int) throws(JSONError) {
        guard allowsPartial else { throw error(.unexpectedEnd) }
        openDepth = max(openDepth, depth + 1)
    }

    /// Nil when the text ends before the value shows what it is.
    private mutating func parseValue(depth: Int) throws(JSONError) -> JSONValue? {
        guard depth < depthLimit else { throw error(.nestingTooDeep(limit: depthLimit)) }
        guard !atEnd else {
            guard allowsPartial else { throw error(.unexpectedEnd) }
            return nil
        }
        switch bytes[position] {
        case UInt8(ascii: "{"): return try parseObject(depth: depth)
        case UInt8(ascii: "["): return try parseArray(depth: depth)
        case UInt8(ascii: "\""): return .string(try parseString(depth: depth))
        case UInt8(ascii: "t"): return try parseWord("true", .bool(true))
        case UInt8(ascii: "f"): return try parseWord("false", .bool(false))
        case UInt8(ascii: "n"): return try parseWord("null", .null)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try parseNumber(depth: depth)
        case let byte: throw error(.unexpectedByte(byte))
        }
    }

    private mutating func parseWord(_ word: StaticString, _ value: JSONValue) throws(JSONError) -> JSONValue? {
        for index in 0..<word.utf8CodeUnitCount {
            guard !atEnd else {
                guard allowsPartial else { throw error(.unexpectedEnd) }
                return nil
            }
            guard bytes[position] == word.utf8Start[index] else { throw error(.unexpectedByte(bytes[position])) }
            position += 1
        }
        return value
    }

    private mutating func parseObject(depth: Int) throws(JSONError) -> JSONValue {
        position += 1
        var object = JSONObject()
        skipSpace()
        if !atEnd, bytes[position] == UInt8(ascii: "}") {
            position += 1
            return .object(object)
        }
        while true {
            guard !atEnd else {
                try leaveOpen(depth: depth)
                return .object(object)
            }
            guard bytes[position] == UInt8(ascii: "\"") else { throw error(.unexpectedByte(bytes[position])) }
            let openBefore = openDepth
            let key = try parseString(depth: depth + 1)
            let keyIsOpen = openDepth != openBefore
            if keyIsOpen { openDepth = openBefore }
            skipSpace()
            guard !atEnd, !keyIsOpen else {
                try leaveOpen(depth: depth)
                return .object(object)
            }
            if !allowsRepeatedKeys, object[key] != nil { throw error(.repeatedKey(key)) }
            guard bytes[position] == UInt8(ascii: ":") else { throw error(.unexpectedByte(bytes[position])) }
            position += 1
            skipSpace()
            guard let value = try parseValue(depth: depth + 1) else {
                try leaveOpen(depth: depth)
                return .object(object)
            }
            object[key] = value
            skipSpace()
            guard !atEnd else {
                try leaveOpen(depth: depth)
                return .object(object)
            }
            switch bytes[position] {
            case UInt8(ascii: ","):
                position += 1
                skipSpace()
            case UInt8(ascii: "}"):
                position += 1
                return .object(object)
            case let byte: throw error(.unexpectedByte(byte))
            }
        }
    }

    private mutating func parseArray(depth: Int) throws(JSONError) -> JSONValue {
        position += 1
        var array: [JSONValue] = []
        skipSpace()
        if !atEnd, bytes[position] == UInt8(ascii: "]") {
            position += 1
            return .array(array)
        }
        while true {
            guard let value = try parseValue(depth: depth + 1) else {
                try leaveOpen(depth: depth)
                return .array(array)
            }
            array.append(value)
            skipSpace()
            guard !atEnd else {
                try leaveOpen(depth: depth)
                return .array(array)
            }
            switch bytes[position] {
            case UInt8(ascii: ","):
                position += 1
                skipSpace()
            case UInt8(ascii: "]"):
                position += 1
                return .array(array)
            case let byte: throw error(.unexpectedByte(byte))
            }
        }
    }

    private mutating func parseNumber(depth: Int) throws(JSONError) -> JSONValue? {
        let start = position
        /// The longest prefix that is a number by itself, for a text that ends inside this one.
        var lastWhole: Int?
        func isDigit(_ index: Int) -> Bool {
            index < bytes.count && (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[index])
        }
        func has(_ byte: Character) -> Bool { position < bytes.count && bytes[position] == byte.asciiValue }
        func text(upTo end: Int) -> JSONValue {
            .number(JSONNumber(validated: String(decoding: bytes[start..<end], as: UTF8.self)))
        }

        if has("-") { position += 1 }
        if has("0") {
            position += 1
            guard !isDigit(position) else { throw error(.invalidNumber) }
            lastWhole = position
        } else {
            while isDigit(position) { position += 1 }
            if position > start, isDigit(position - 1) { lastWhole = position }
        }
        if lastWhole != nil, has(".") {
            position += 1
            let digits = position
            while isDigit(position) { position += 1 }
            if position > digits { lastWhole = position } else if !atEnd { throw error(.invalidNumber) }
        }
        if lastWhole == position, has("e") || has("E") {
            position += 1
            if has("+") || has("-") { position += 1 }
            let digits = position
            while isDigit(position) { position += 1 }
            if position > digits { lastWhole = position } else if !atEnd { throw error(.invalidNumber) }
        }
        if atEnd {
            // A number at the end of the text may go on, except at the root of a whole document.
            if !allowsPartial {
                guard lastWhole == position else { throw error(.invalidNumber) }
                return text(upTo: position)
            }
            guard let lastWhole else { return nil }
            if depth > 0 || lastWhole != position { try leaveOpen(depth: depth) }
            return text(upTo: lastWhole)
        }
        guard lastWhole == position else { throw error(.invalidNumber) }
        return text(upTo: position)
    }

    /// Reads a string from its opening quotation mark to behind the closing one.
    private mutating func parseString(depth: Int) throws(JSONError) -> String {
        position += 1
        var scalars: [UInt8] = []
        var runStart = position
        while true {
            guard !atEnd else {
                scalars.append(contentsOf: bytes[runStart..<position])
                try leaveOpen(depth: depth)
                return String(decoding: scalars, as: UTF8.self)
            }
            let byte = bytes[position]
            switch byte {
            case UInt8(ascii: "\""):
                scalars.append(contentsOf: bytes[runStart..<position])
                position += 1
                return String(decoding: scalars, as: UTF8.self)
            case UInt8(ascii: "\\"):
                scalars.append(contentsOf: bytes[runStart..<position])
                guard let scalar = try parseEscape() else {
                    position = bytes.count
                    try leaveOpen(depth: depth)
                    return String(decoding: scalars, as: UTF8.self)
                }
                scalars.append(contentsOf: String(scalar).utf8)
                runStart = position
            case 0..<0x20: throw error(.controlCharacter)
            case 0x20..<0x80: position += 1
            default:
                guard let length = try multibyteLength() else {
                    scalars.append(contentsOf: bytes[runStart..<position])
                    position = bytes.count
                    try leaveOpen(depth: depth)
                    return String(decoding: scalars, as: UTF8.self)
                }
                position += length
            }
        }
    }

    /// The length of the UTF-8 sequence here; nil when the text ends inside it.
    private func multibyteLength() throws(JSONError) -> Int? {
        let lead = bytes[position]
        let length: Int
        var second: ClosedRange<UInt8> = 0x80...0xbf
        switch lead {
        case 0xc2...0xdf: length = 2
        case 0xe0: (length, second) = (3, 0xa0...0xbf)
        case 0xed: (length, second) = (3, 0x80...0x9f)
        case 0xe1...0xef: length = 3
        case 0xf0: (length, second) = (4, 0x90...0xbf)
        case 0xf4: (length, second) = (4, 0x80...0x8f)
        case 0xf1...0xf3: length = 4
        default: throw error(.invalidUTF8)
        }
        for offset in 1..<length {
            guard position + offset < bytes.count else {
                guard allowsPartial else { throw error(.invalidUTF8) }
                return nil
            }
            guard (offset == 1 ? second : 0x80...0xbf).contains(bytes[position + offset]) else {
                throw error(.invalidUTF8)
            }
        }
        return length
    }

    /// Reads an escape from its backslash on; nil when the text ends inside it.
    private mutating func parseEscape() throws(JSONError) -> UnicodeScalar? {
        guard position + 1 < bytes.count else {
            guard allowsPartial else { throw error(.unexpectedEnd) }
            return nil
        }
        let simple: UnicodeScalar
        switch bytes[position + 1] {
        case UInt8(ascii: "\""): simple = "\""
        case UInt8(ascii: "\\"): simple = "\\"
        case UInt8(ascii: "/"): simple = "/"
        case UInt8(ascii: "b"): simple = "\u{8}"
        case UInt8(ascii: "f"): simple = "\u{c}"
        case UInt8(ascii: "n"): simple = "\n"
        case UInt8(ascii: "r"): simple = "\r"
        case UInt8(ascii: "t"): simple = "\t"
        case UInt8(ascii: "u"): return try parseUnicodeEscape()
        default: throw error(.invalidEscape)
        }
        position += 2
        return simple
    }

    private mutating func parseUnicodeEscape() throws(JSONError) -> UnicodeScalar? {
        guard let first = try hexUnit(at: position) else { return nil }
        if let scalar = UnicodeScalar(first) {
            position += 6
            return scalar
        }
        guard first < 0xdc00 else { throw error(.loneSurrogate) }
        // The first half of a pair: the second must follow at once.
        for (offset, expected) in [(6, UInt8(ascii: "\\")), (7, UInt8(ascii: "u"))] {
            guard position + offset < bytes.count else {
                guard allowsPartial else { throw error(.unexpectedEnd) }
                return nil
            }
            guard bytes[position + offset] == expected else { throw error(.loneSurrogate) }
        }
        guard let second = try hexUnit(at: position + 6) else { return nil }
        guard (0xdc00...0xdfff).contains(second) else { throw error(.loneSurrogate) }
        position += 12
        return UnicodeScalar(0x10000 + (UInt32(first) - 0xd800) << 10 + (UInt32(second) - 0xdc00))
    }

    /// The four hexadecimal digits of the `\u` at `start`; nil when the text ends inside them.
    private func hexUnit(at start: Int) throws(JSONError) -> UInt16? {
        var unit: UInt16 = 0
        for index in start + 2..<start + 6 {
            guard index < bytes.count else {
                guard allowsPartial else { throw error(.unexpectedEnd) }
                return nil
            }
            guard let digit = Character(UnicodeScalar(bytes[index])).hexDigitValue, bytes[index] < 0x80 else {
                throw error(.invalidEscape)
            }
            unit = unit << 4 | UInt16(digit)
        }
        return unit
    }
}
