/// A piece of a template's source.
struct Token {
    enum Kind: Equatable {
        case data(String)
        case blockBegin, blockEnd
        case variableBegin, variableEnd
        case name(String)
        case string(String)
        case integer(BigInt)
        case float(Double)
        /// One of the operators and brackets, as spelled.
        case symbol(String)
        case end
    }

    let kind: Kind
    let line: Int

    /// How an error message names the token.
    var description: String {
        switch kind {
        case .data: "template text"
        case .blockBegin: "{%"
        case .blockEnd: "end of statement block"
        case .variableBegin: "{{"
        case .variableEnd: "end of print statement"
        case .name(let name): name
        case .string(let text): text
        case .integer(let value): value.description
        case .float(let value): Python.repr(value)
        case .symbol(let symbol): symbol
        case .end: "end of template"
        }
    }
}
