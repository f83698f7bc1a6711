/// Texts as sequences of code points, and searching in their bytes.
enum Text {
    /// The code points of a range of positions.
    static func slice(_ text: TrackedText, _ range: Range<Int>) -> TrackedText {
        let scalars = text.string.unicodeScalars
        let start = scalars.index(scalars.startIndex, offsetBy: range.lowerBound)
        return text.slice(scalars[start..<scalars.index(start, offsetBy: range.count)])
    }

    static func string(_ scalars: some Sequence<Unicode.Scalar>) -> String {
        var view = String.UnicodeScalarView()
        view.append(contentsOf: scalars)
        return String(view)
    }

    /// How many code points the bytes are.
    static func count(_ bytes: some Sequence<UInt8>) -> Int { bytes.reduce(0) { $0 + ($1 & 0xc0 == 0x80 ? 0 : 1) } }

    // MARK: - Python's methods

    enum Edges { case both, leading, trailing }

    /// - Parameter characters: Nil for whitespace.
    static func strip(_ text: TrackedText, _ characters: String?, _ edges: Edges = .both) -> TrackedText {
        let set = characters.map { Set($0.unicodeScalars) }
        func isStripped(_ scalar: Unicode.Scalar) -> Bool { set?.contains(scalar) ?? Python.isSpace(scalar) }
        var scalars = text.string.unicodeScalars[...]
        if edges != .trailing { scalars = scalars.drop(while: isStripped) }
        if edges != .leading {
            while let last = scalars.last, isStripped(last) { scalars.removeLast() }
        }
        return text.slice(scalars)
    }

    static func replace(_ text: TrackedText, _ old: String, _ new: TrackedText, count: Int = -1) -> TrackedText {
        var rest = count < 0 ? Int.max : count
        if rest == 0 { return text }
        var result = TrackedText()
        if old.isEmpty {
            for scalar in text.scalars {
                if rest > 0 { result += new }
                rest -= 1
                result.append(scalar)
            }
            if rest > 0 { result += new }
            return result
        }
        var position = 0
        for found in TextSearch.places(of: old, in: text.string, maximum: count) {
            result += text.slice(position..<found.lowerBound)
            result += new
            position = found.upperBound
        }
        if position == 0 { return text }
        result += text.slice(position..<text.byteCount)
        return result
    }

    /// `str.split` at a separator, or `str.rsplit` when it starts from the end.
    static func split(_ text: TrackedText, _ separator: String, maximum: Int, fromEnd: Bool) -> [TrackedText] {
        var pieces: [TrackedText] = []
        var position = 0
        for range in TextSearch.places(of: separator, in: text.string, maximum: maximum, fromEnd: fromEnd) {
            pieces.append(text.slice(position..<range.lowerBound))
            position = range.upperBound
        }
        pieces.append(text.slice(position..<text.byteCount))
        return pieces
    }

    /// `str.split` at whitespace.
    static func splitAtSpace(_ text: TrackedText, maximum: Int, fromEnd: Bool) -> [TrackedText] {
        var pieces: [TrackedText] = []
        var rest = maximum < 0 ? Int.max : maximum
        var scalars = text.string.unicodeScalars[...]
        if fromEnd {
            while true {
                while let last = scalars.last, Python.isSpace(last) { scalars.removeLast() }
                if scalars.isEmpty { break }
                if rest == 0 {
                    pieces.append(text.slice(scalars))
                    break
                }
                var start = scalars.endIndex
                while start > scalars.startIndex, !Python.isSpace(scalars[scalars.index(before: start)]) {
                    start = scalars.index(before: start)
                }
                pieces.append(text.slice(scalars[start...]))
                scalars = scalars[..<start]
                rest -= 1
            }
            return pieces.reversed()
        }
        while true {
            scalars = scalars.drop(while: Python.isSpace)
            if scalars.isEmpty { break }
            if rest == 0 {
                pieces.append(text.slice(scalars))
                break
            }
            let end = scalars.firstIndex(where: Python.isSpace) ?? scalars.endIndex
            pieces.append(text.slice(scalars[..<end]))
            scalars = scalars[end...]
            rest -= 1
        }
        return pieces
    }

    static func splitLines(_ text: TrackedText, keepsEnds: Bool = false) -> [TrackedText] {
        var lines: [TrackedText] = []
        let scalars = text.string.unicodeScalars
        var start = scalars.startIndex
        var index = start
        while index < scalars.endIndex {
            let end = index
            let scalar = scalars[index]
            index = scalars.index(after: index)
            guard Python.isLineBreak(scalar) else { continue }
            if scalar == "\r", index < scalars.endIndex, scalars[index] == "\n" { index = scalars.index(after: index) }
            lines.append(text.slice(scalars[start..<(keepsEnds ? index : end)]))
            start = index
        }
        if start < scalars.endIndex { lines.append(text.slice(scalars[start...])) }
        return lines
    }

    static func upper(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars { result += scalar.properties.uppercaseMapping }
        return result
    }

    static func lower(_ text: String) -> String {
        if !text.unicodeScalars.contains("\u{3a3}") {
            var result = ""
            for scalar in text.unicodeScalars { result += scalar.properties.lowercaseMapping }
            return result
        }
        let scalars = Array(text.unicodeScalars)
        var result = ""
        for (index, scalar) in scalars.enumerated() {
            result +=
                scalar == "\u{3a3}" && isFinalSigma(scalars, index) ? "\u{3c2}" : scalar.properties.lowercaseMapping
        }
        return result
    }

    /// Whether a capital sigma ends a word: a cased letter comes before it, and none after it.
    private static func isFinalSigma(_ scalars: [Unicode.Scalar], _ index: Int) -> Bool {
        func nextIsCased(_ indices: some Sequence<Int>) -> Bool {
            for index in indices where !scalars[index].properties.isCaseIgnorable {
                return scalars[index].properties.isCased
            }
            return false
        }
        return nextIsCased((0..<index).reversed()) && !nextIsCased(index + 1..<scalars.count)
    }

    static func capitalize(_ text: String) -> String {
        guard let first = text.unicodeScalars.first else { return "" }
        // Lowered as a whole, so that a sigma sees the letter before it.
        let rest = lower(text).unicodeScalars.dropFirst(first.properties.lowercaseMapping.unicodeScalars.count)
        return first.properties.titlecaseMapping + String(Substring(rest))
    }

    /// `str.title`: every run of cased letters begins with a capital.
    static func title(_ text: String) -> String {
        let scalars = Array(text.unicodeScalars)
        var result = ""
        var isInWord = false
        for (index, scalar) in scalars.enumerated() {
            if !isInWord {
                result += scalar.properties.titlecaseMapping
            } else if scalar == "\u{3a3}", isFinalSigma(scalars, index) {
                result += "\u{3c2}"
            } else {
                result += scalar.properties.lowercaseMapping
            }
            isInWord = scalar.properties.isCased
        }
        return result
    }

    static func swapCase(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            let properties = scalar.properties
            result +=
                properties.isUppercase
                ? properties.lowercaseMapping
                : properties.isLowercase ? properties.uppercaseMapping : String(Character(scalar))
        }
        return result
    }
}

/// The bounds of `value[start:stop:step]`.
struct Slice {
    let start: Int?
    let stop: Int?
    /// Not 0.
    let step: Int

    /// The first position and how many there are.
    func resolve(count: Int) -> (first: Int, count: Int) {
        let (low, high) = step > 0 ? (0, count) : (-1, count - 1)
        func place(_ bound: Int) -> Int { min(max(bound < 0 ? bound + count : bound, low), high) }
        let first = start.map(place) ?? (step > 0 ? low : high)
        let last = stop.map(place) ?? (step > 0 ? high : low)
        let distance = step > 0 ? last - first : first - last
        return (first, distance <= 0 ? 0 : (distance - 1) / Int(clamping: step.magnitude) + 1)
    }

    func apply(to elements: [Value], _ renderer: Renderer) throws(JinjaError) -> [Value] {
        let (first, count) = resolve(count: elements.count)
        try renderer.charge(elements: count)
        if step == 1 { return Array(elements[first..<first + count]) }
        return (0..<count).map { elements[first + $0 * step] }
    }

    func apply(to text: TrackedText, _ renderer: Renderer) throws(JinjaError) -> TrackedText {
        try renderer.charge(bytes: text.byteCount)
        let scalars = text.string.unicodeScalars
        // The common slices are found without counting the whole text.
        if step == 1, start ?? 0 >= 0, let stop, stop >= 0 {
            let from = scalars.dropFirst(start ?? 0)
            return text.slice(from.prefix(max(0, stop - (start ?? 0))))
        }
        if step == 1, stop == nil, let start, start >= 0 { return text.slice(scalars.dropFirst(start)) }
        let (first, count) = resolve(count: scalars.count)
        if step == 1 { return Text.slice(text, first..<first + count) }
        let all = Array(text.scalars)
        return TrackedText((0..<count).lazy.map { all[first + $0 * step] })
    }
}

/// Escaping for HTML, as markupsafe does.
enum HTML {
    /// What stands for a character is content if the character was. Charged for what it makes before it makes it.
    static func escape(_ text: TrackedText, _ renderer: Renderer) throws(JinjaError) -> TrackedText {
        let growth = text.string.utf8.reduce(0) { $0 + (entity($1).map { $0.utf8CodeUnitCount - 1 } ?? 0) }
        try renderer.charge(bytes: text.byteCount + growth)
        return growth == 0 ? text : text.replacingBytes(entity)
    }

    /// The text of a text value: as it is when it is safe, escaped otherwise.
    static func escape(_ value: Value, _ renderer: Renderer) throws(JinjaError) -> TrackedText {
        if case .markup(let text) = value { return text }
        return try escape(value.tracked ?? "", renderer)
    }

    private static func entity(_ byte: UInt8) -> StaticString? {
        switch byte {
        case UInt8(ascii: "&"): "&amp;"
        case UInt8(ascii: "<"): "&lt;"
        case UInt8(ascii: ">"): "&gt;"
        case UInt8(ascii: "'"): "&#39;"
        case UInt8(ascii: "\""): "&#34;"
        default: nil
        }
    }

    /// Without comments and tags, and with single spaces.
    static func stripTags(_ text: TrackedText) -> TrackedText {
        TrackedText(stripTags(text.string), isContent: text.hasContent)
    }

    private static func stripTags(_ text: String) -> String {
        var rest = text
        func remove(_ open: String, _ close: String) {
            var result: [UInt8] = []
            let bytes = Array(rest.utf8)
            var position = 0
            let (opening, closing) = (TextSearch(open.utf8), TextSearch(close.utf8))
            while let start = opening.first(in: bytes, from: position),
                let end = closing.first(in: bytes, from: start.lowerBound)
            {
                result += bytes[position..<start.lowerBound]
                position = end.upperBound
            }
            result += bytes[position...]
            rest = String(decoding: result, as: UTF8.self)
        }
        remove("<!--", "-->")
        remove("<", ">")
        let joined = Text.splitAtSpace(TrackedText(rest), maximum: -1, fromEnd: false).map(\.string).joined(
            separator: " ")
        return unescape(joined)
    }

    private static let names: [String: String] = [
        "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "nbsp": "\u{a0}", "copy": "©", "reg": "®",
        "hellip": "…", "mdash": "—", "ndash": "–", "lsquo": "‘", "rsquo": "’", "ldquo": "“", "rdquo": "”",
        "laquo": "«", "raquo": "»", "euro": "€", "times": "×", "middot": "·", "bull": "•", "trade": "™",
    ]

    /// Numeric character references, and the names that texts use.
    private static func unescape(_ text: String) -> String {
        var result = ""
        var rest = Substring(text)
        while let start = rest.firstIndex(of: "&") {
            result += rest[..<start]
            rest = rest[start...]
            guard let end = rest.prefix(12).firstIndex(of: ";") else {
                result += "&"
                rest = rest.dropFirst()
                continue
            }
            let name = rest[rest.index(after: start)..<end]
            var replacement = names[String(name)]
            if name.hasPrefix("#") {
                let digits = name.dropFirst()
                let value =
                    digits.hasPrefix("x") || digits.hasPrefix("X")
                    ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
                replacement = value.flatMap(Unicode.Scalar.init).map { String(Character($0)) }
            }
            if let replacement {
                result += replacement
                rest = rest[rest.index(after: end)...]
            } else {
                result += "&"
                rest = rest.dropFirst()
            }
        }
        return result + rest
    }
}
