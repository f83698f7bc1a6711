/// Cuts a template's source into tokens, as jinja2 does with `trim_blocks` and `lstrip_blocks`: the first newline after
/// a block tag and the blanks before a block tag on its line belong to the tag. `-` at a tag's edge takes all whitespace
/// there, `+` takes none.
struct Lexer {
    private let source: [Unicode.Scalar]
    private var position = 0
    private var line = 1
    private var tokens: [Token] = []
    /// Whether everything before `position` ends with a newline that a tag has consumed, or is empty.
    private var isAtLineStart = true

    static func tokens(of text: String) throws(JinjaError) -> [Token] {
        var lexer = Lexer(text)
        try lexer.run()
        return lexer.tokens
    }

    private init(_ text: String) {
        // Line ends of every kind are one newline, and a last one does not count.
        var scalars: [Unicode.Scalar] = []
        scalars.reserveCapacity(text.utf8.count)
        var previous: Unicode.Scalar = " "
        for scalar in text.unicodeScalars {
            if scalar == "\r" {
                scalars.append("\n")
            } else if !(scalar == "\n" && previous == "\r") {
                scalars.append(scalar)
            }
            previous = scalar
        }
        if scalars.last == "\n" { scalars.removeLast() }
        source = scalars
    }

    // MARK: - Text between tags

    private mutating func run() throws(JinjaError) {
        while position < source.count {
            guard let tag = nextTag(from: position) else {
                appendData(position..<source.count)
                position = source.count
                break
            }
            let kind = source[tag + 1]
            var bodyStart = tag + 2
            var sign: Unicode.Scalar?
            if bodyStart < source.count, source[bodyStart] == "-" || source[bodyStart] == "+" {
                sign = source[bodyStart]
                bodyStart += 1
            }
            let rawStart = kind == "%" ? endOfRawTag(from: bodyStart) : nil
            emitData(upTo: tag, sign: sign, stripsLine: kind != "{")
            // The line of what follows counts the text that was stripped, too.
            line += newlines(in: position..<tag)
            position = bodyStart
            switch kind {
            case "#": try skipComment()
            case "%":
                if let rawStart {
                    try readRaw(from: rawStart)
                } else {
                    tokens.append(Token(kind: .blockBegin, line: line))
                    try readTag(closing: "%")
                }
            default:
                tokens.append(Token(kind: .variableBegin, line: line))
                try readTag(closing: "}")
            }
        }
        tokens.append(Token(kind: .end, line: line))
    }

    private func nextTag(from start: Int) -> Int? {
        var index = start
        while index + 1 < source.count {
            if source[index] == "{" {
                let next = source[index + 1]
                if next == "%" || next == "{" || next == "#" { return index }
            }
            index += 1
        }
        return nil
    }

    private mutating func emitData(upTo end: Int, sign: Unicode.Scalar?, stripsLine: Bool) {
        appendData(position..<strippedEnd(of: position..<end, sign: sign, stripsLine: stripsLine))
    }

    /// Where the text before a tag ends once the tag has taken the whitespace that is its own.
    private func strippedEnd(of range: Range<Int>, sign: Unicode.Scalar?, stripsLine: Bool) -> Int {
        var end = range.upperBound
        if sign == "-" {
            while end > range.lowerBound, Python.isSpace(source[end - 1]) { end -= 1 }
            return end
        }
        guard sign != "+", stripsLine else { return end }
        while end > range.lowerBound, source[end - 1] != "\n", Python.isSpace(source[end - 1]) { end -= 1 }
        let reachesLineStart =
            end > range.lowerBound ? source[end - 1] == "\n" : isAtLineStart
        return reachesLineStart ? end : range.upperBound
    }

    private mutating func appendData(_ range: Range<Int>) {
        guard !range.isEmpty else { return }
        tokens.append(Token(kind: .data(string(range)), line: line))
    }

    private mutating func skipComment() throws(JinjaError) {
        var index = position
        while index + 1 < source.count, !(source[index] == "#" && source[index + 1] == "}") { index += 1 }
        if position == source.count { return }
        guard index + 1 < source.count else { throw fault("missing end of comment tag") }
        var end = index + 2
        // The sign belongs to the end of the comment, but not to its beginning: `{#-#}`.
        if index > position, source[index - 1] == "-" {
            skipSpace(&end)
        } else if !(index > position && source[index - 1] == "+") {
            skipNewline(&end)
        }
        advance(to: end)
    }

    /// Where the text of a raw block starts when the tag whose inside starts at `start` is `raw`.
    private func endOfRawTag(from start: Int) -> Int? {
        var index = start
        skipSpace(&index)
        guard matches("raw", at: index) else { return nil }
        index += 3
        skipSpace(&index)
        if matches("-%}", at: index) {
            index += 3
            skipSpace(&index)
            return index
        }
        return matches("%}", at: index) ? index + 2 : nil
    }

    private mutating func readRaw(from start: Int) throws(JinjaError) {
        advance(to: start)
        // A raw block, or a comment, that begins at the very end is none.
        if start == source.count { return }
        var tag = start
        while tag < source.count {
            defer { tag += 1 }
            guard matches("{%", at: tag) else { continue }
            var index = tag + 2
            var sign: Unicode.Scalar?
            if index < source.count, source[index] == "-" || source[index] == "+" {
                sign = source[index]
                index += 1
            }
            skipSpace(&index)
            guard matches("endraw", at: index) else { continue }
            index += 6
            skipSpace(&index)
            guard let end = endOfBlockTag(at: index) else { continue }
            emitData(upTo: tag, sign: sign, stripsLine: true)
            advance(to: end)
            return
        }
        throw fault("missing end of raw directive")
    }

    private func endOfBlockTag(at index: Int) -> Int? {
        var end = index
        if matches("+%}", at: index) { return index + 3 }
        if matches("-%}", at: index) {
            end += 3
            skipSpace(&end)
            return end
        }
        guard matches("%}", at: index) else { return nil }
        end += 2
        skipNewline(&end)
        return end
    }

    // MARK: - Inside tags

    private mutating func readTag(closing: Unicode.Scalar) throws(JinjaError) {
        var brackets: [Unicode.Scalar] = []
        while position < source.count {
            if brackets.isEmpty, let end = closing == "%" ? endOfBlockTag(at: position) : endOfVariable(at: position) {
                tokens.append(Token(kind: closing == "%" ? .blockEnd : .variableEnd, line: line))
                advance(to: end)
                return
            }
            let scalar = source[position]
            if Python.isSpace(scalar) {
                if scalar == "\n" { line += 1 }
                position += 1
            } else if let length = floatLength() {
                let text = string(position..<position + length).filter { $0 != "_" }
                tokens.append(Token(kind: .float(Double(text) ?? .infinity), line: line))
                position += length
            } else if Python.isASCIIDigit(scalar) {
                try readInteger()
            } else if Python.isIdentifierPart(scalar) {
                let start = position
                while position < source.count, Python.isIdentifierPart(source[position]) { position += 1 }
                guard Python.isIdentifierStart(scalar) else { throw fault("invalid character in identifier") }
                tokens.append(Token(kind: .name(string(start..<position)), line: line))
            } else if scalar == "'" || scalar == "\"" {
                try readString(quote: scalar)
            } else {
                try readSymbol(&brackets)
            }
        }
        // The parser names what it was looking for.
    }

    private func endOfVariable(at index: Int) -> Int? {
        if matches("-}}", at: index) {
            var end = index + 3
            skipSpace(&end)
            return end
        }
        return matches("}}", at: index) ? index + 2 : nil
    }

    private mutating func readSymbol(_ brackets: inout [Unicode.Scalar]) throws(JinjaError) {
        for symbol in ["**", "//", "==", "!=", ">=", "<="] where matches(symbol, at: position) {
            tokens.append(Token(kind: .symbol(symbol), line: line))
            position += 2
            return
        }
        let scalar = source[position]
        switch scalar {
        case "(": brackets.append(")")
        case "[": brackets.append("]")
        case "{": brackets.append("}")
        case ")", "]", "}":
            guard let expected = brackets.popLast() else { throw fault("unexpected '\(scalar)'") }
            guard expected == scalar else { throw fault("unexpected '\(scalar)', expected '\(expected)'") }
        case "+", "-", "*", "/", "%", "~", ">", "<", "=", ".", ":", "|", ",", ";": break
        default: throw fault("unexpected character \(Python.repr(String(Character(scalar))))")
        }
        tokens.append(Token(kind: .symbol(String(Character(scalar))), line: line))
        position += 1
    }

    /// The length of digits, each group of which may follow an underscore; nil when there are none.
    private func digitsLength(at start: Int) -> Int? {
        var index = start
        guard index < source.count, Python.isASCIIDigit(source[index]) else { return nil }
        while index < source.count {
            if Python.isASCIIDigit(source[index]) {
                index += 1
            } else if source[index] == "_", index + 1 < source.count, Python.isASCIIDigit(source[index + 1]) {
                index += 1
            } else {
                break
            }
        }
        return index - start
    }

    private func floatLength() -> Int? {
        if position > 0, source[position - 1] == "." { return nil }
        guard let whole = digitsLength(at: position) else { return nil }
        var length = whole
        var isFloat = false
        if matches(".", at: position + length), let fraction = digitsLength(at: position + length + 1) {
            length += 1 + fraction
            isFloat = true
        }
        if matches("e", at: position + length) || matches("E", at: position + length) {
            var exponent = position + length + 1
            if matches("+", at: exponent) || matches("-", at: exponent) { exponent += 1 }
            if let digits = digitsLength(at: exponent) { return exponent + digits - position }
        }
        return isFloat ? length : nil
    }

    private mutating func readInteger() throws(JinjaError) {
        let start = position
        var radix = 10
        if source[start] == "0", start + 1 < source.count {
            switch source[start + 1] {
            case "b", "B": radix = 2
            case "o", "O": radix = 8
            case "x", "X": radix = 16
            default: break
            }
        }
        func isDigit(_ index: Int) -> Bool {
            guard index < source.count, let value = Python.asciiDigitValue(source[index]) else { return false }
            return value < radix
        }
        func run(from first: Int, where matches: (Int) -> Bool) -> Int {
            var index = first
            while true {
                if matches(index) {
                    index += 1
                } else if index < source.count, source[index] == "_", matches(index + 1) {
                    index += 2
                } else {
                    return index
                }
            }
        }
        var end = start
        if radix != 10 {
            end = run(from: start + 2, where: isDigit)
            if end == start + 2 { radix = 10 }
        }
        if radix == 10 {
            // `012` is two numbers, as the grammar of the language has it.
            let isZero = source[start] == "0"
            end = run(from: start) { isDigit($0) && (!isZero || source[$0] == "0") }
        }
        let digits = string((radix == 10 ? start : start + 2)..<end).filter { $0 != "_" }
        guard digits.utf8.count <= BigInt.maximumDigits, let value = BigInt(digits, radix: radix) else {
            throw fault("the number is too long")
        }
        tokens.append(Token(kind: .integer(value), line: line))
        position = end
    }

    private mutating func readString(quote: Unicode.Scalar) throws(JinjaError) {
        var text = String.UnicodeScalarView()
        var index = position + 1
        while true {
            guard index < source.count else { throw fault("unexpected character '\(quote)': the text has no end") }
            let scalar = source[index]
            index += 1
            if scalar == quote { break }
            guard scalar == "\\" else {
                text.append(scalar)
                continue
            }
            guard index < source.count else { continue }
            let escape = source[index]
            index += 1
            switch escape {
            case "\n": break
            case "\\", "'", "\"": text.append(escape)
            case "a": text.append("\u{7}")
            case "b": text.append("\u{8}")
            case "f": text.append("\u{c}")
            case "n": text.append("\n")
            case "r": text.append("\r")
            case "t": text.append("\t")
            case "v": text.append("\u{b}")
            case "0"..."7":
                var value = escape.value - 48
                var length = 1
                while length < 3, index < source.count, ("0"..."7").contains(source[index]) {
                    value = value * 8 + source[index].value - 48
                    index += 1
                    length += 1
                }
                if let scalar = Unicode.Scalar(value) { text.append(scalar) }
            case "x": text.append(try hexEscape(2, at: &index))
            case "u": text.append(try hexEscape(4, at: &index))
            case "U": text.append(try hexEscape(8, at: &index))
            case "N": throw fault("character names (\\N{…}) are not supported: write the character itself")
            default:
                text.append("\\")
                text.append(escape)
            }
        }
        tokens.append(Token(kind: .string(String(text)), line: line))
        advance(to: index)
    }

    private func hexEscape(_ length: Int, at index: inout Int) throws(JinjaError) -> Unicode.Scalar {
        var value: UInt32 = 0
        for _ in 0..<length {
            guard index < source.count, let digit = Python.asciiDigitValue(source[index]), digit < 16 else {
                throw fault("truncated escape in a text")
            }
            value = value << 4 | UInt32(digit)
            index += 1
        }
        guard let scalar = Unicode.Scalar(value) else { throw fault("an escape in a text is not a character") }
        return scalar
    }

    // MARK: - Source

    private func string(_ range: Range<Int>) -> String {
        var view = String.UnicodeScalarView()
        view.append(contentsOf: source[range])
        return String(view)
    }

    private func matches(_ text: StaticString, at index: Int) -> Bool { matches(text.description, at: index) }

    private func matches(_ text: String, at index: Int) -> Bool {
        var index = index
        for scalar in text.unicodeScalars {
            guard index < source.count, source[index] == scalar else { return false }
            index += 1
        }
        return true
    }

    private func skipSpace(_ index: inout Int) {
        while index < source.count, Python.isSpace(source[index]) { index += 1 }
    }

    private func skipNewline(_ index: inout Int) {
        if index < source.count, source[index] == "\n" { index += 1 }
    }

    private func newlines(in range: Range<Int>) -> Int {
        range.reduce(0) { $0 + (source[$1] == "\n" ? 1 : 0) }
    }

    /// Moves behind a tag, or a part of one.
    private mutating func advance(to end: Int) {
        line += newlines(in: position..<end)
        position = end
        isAtLineStart = end > 0 && source[end - 1] == "\n"
    }

    private func fault(_ message: String) -> JinjaError { JinjaError(.syntax(message), line: line) }
}
