/// A partition of all Unicode scalars, as far as the patterns of pre-tokenizers tell them apart: the general categories,
/// with white space as a class of its own.
enum ScalarClass {
    /// A set of classes, one bit each.
    typealias Mask = UInt32

    static let whitespace: UInt8 = 30

    static let letters: Mask = bits([
        .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
    ])
    static let marks: Mask = bits([.nonspacingMark, .spacingMark, .enclosingMark])
    static let numbers: Mask = bits([.decimalNumber, .letterNumber, .otherNumber])
    static let punctuation: Mask = bits([
        .connectorPunctuation, .dashPunctuation, .openPunctuation, .closePunctuation, .initialPunctuation,
        .finalPunctuation, .otherPunctuation,
    ])
    static let symbols: Mask = bits([.mathSymbol, .currencySymbol, .modifierSymbol, .otherSymbol])
    static let spaces: Mask = 1 << whitespace

    static func bits(_ categories: [Unicode.GeneralCategory]) -> Mask {
        categories.reduce(0) { $0 | 1 << index($1) }
    }

    private static func index(_ category: Unicode.GeneralCategory) -> UInt8 {
        switch category {
        case .uppercaseLetter: 0
        case .lowercaseLetter: 1
        case .titlecaseLetter: 2
        case .modifierLetter: 3
        case .otherLetter: 4
        case .nonspacingMark: 5
        case .spacingMark: 6
        case .enclosingMark: 7
        case .decimalNumber: 8
        case .letterNumber: 9
        case .otherNumber: 10
        case .connectorPunctuation: 11
        case .dashPunctuation: 12
        case .openPunctuation: 13
        case .closePunctuation: 14
        case .initialPunctuation: 15
        case .finalPunctuation: 16
        case .otherPunctuation: 17
        case .mathSymbol: 18
        case .currencySymbol: 19
        case .modifierSymbol: 20
        case .otherSymbol: 21
        case .spaceSeparator: 22
        case .lineSeparator: 23
        case .paragraphSeparator: 24
        case .control: 25
        case .format: 26
        case .surrogate: 27
        case .privateUse: 28
        case .unassigned: 29
        @unknown default: 29
        }
    }

    /// The class of every scalar: pages of 256, of which equal ones are stored once.
    struct Table: Sendable {
        private var pages: [UInt16] = []
        private var classes: [UInt8] = []

        @inline(__always)
        subscript(scalar: UInt32) -> UInt8 {
            classes[Int(pages[Int(scalar >> 8)]) << 8 | Int(scalar & 0xff)]
        }

        init() {
            // One page for each class of uniform pages, then the others.
            for uniform in UInt8(0)...ScalarClass.whitespace {
                classes.append(contentsOf: repeatElement(uniform, count: 256))
            }
            pages.reserveCapacity(0x1100)
            for first in stride(from: UInt32(0), to: 0x110000, by: 256) {
                if let uniform = Self.uniformClass(first) {
                    pages.append(UInt16(uniform))
                } else {
                    pages.append(UInt16(classes.count >> 8))
                    for low in 0..<UInt32(256) { classes.append(Self.classOf(first | low)) }
                }
            }
        }

        /// The class of a whole page that lies in a large block of one category, so that the table is made in no time.
        private static func uniformClass(_ first: UInt32) -> UInt8? {
            switch first {
            case 0x3500..<0x4d00, 0x4e00..<0x9f00, 0xac00..<0xd700, 0x17000..<0x18700, 0x20000..<0x2a600:
                index(.otherLetter)
            case 0xd800..<0xe000: index(.surrogate)
            case 0xe000..<0xf800, 0xf0000..<0xfff00, 0x100000..<0x10ff00: index(.privateUse)
            case 0x40000..<0xe0000, 0xe0200..<0xf0000: index(.unassigned)
            default: nil
            }
        }

        private static func classOf(_ value: UInt32) -> UInt8 {
            switch value {
            // The property White_Space, which has not changed for long.
            case 0x09...0x0d, 0x20, 0x85, 0xa0, 0x1680, 0x2000...0x200a, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000:
                return whitespace
            default:
                return Unicode.Scalar(value).map { index($0.properties.generalCategory) } ?? index(.surrogate)
            }
        }
    }

    static let table = Table()
}
