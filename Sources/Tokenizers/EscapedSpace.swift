/// U+2581, by which SentencePiece writes a space.
enum EscapedSpace {
    static let bytes: [UInt8] = [0xe2, 0x96, 0x81]

    @inline(__always)
    static func stands(at index: Int, in text: UnsafeBufferPointer<UInt8>) -> Bool {
        index &+ 2 < text.count && text[index] == 0xe2 && text[index &+ 1] == 0x96 && text[index &+ 2] == 0x81
    }
}
