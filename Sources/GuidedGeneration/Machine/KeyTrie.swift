import JSON

/// The declared keys of an object as a trie over their bytes, closing quotation mark and all.
final class KeyTrie {
    struct Node {
        var bytes: [UInt8] = []
        var children: [Int32] = []
        /// The members whose keys lie below, rising.
        var members: [Int32] = []
    }

    private(set) var nodes = [Node()]

    init(_ keys: [String]) {
        for (index, key) in keys.enumerated() {
            var node = 0
            nodes[0].members.append(Int32(index))
            for byte in JSONValue.quoted(key).utf8.dropFirst() {
                if let place = nodes[node].bytes.firstIndex(of: byte) {
                    node = Int(nodes[node].children[place])
                } else {
                    nodes[node].bytes.append(byte)
                    nodes[node].children.append(Int32(nodes.count))
                    node = nodes.count
                    nodes.append(Node())
                }
                nodes[node].members.append(Int32(index))
            }
        }
    }
}
