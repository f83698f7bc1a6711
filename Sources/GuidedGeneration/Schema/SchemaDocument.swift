import JSON

/// A schema document: its subschemas by place, and what its references lead to.
final class SchemaDocument {
    /// A subschema.
    struct Node {
        var value: JSONValue
        /// Where it stands, as a JSON pointer without the `#`.
        var path: String
        /// The URI that its references are relative to.
        var base: URIReference
    }

    let root: JSONValue
    let dialect: SchemaDialect
    private(set) var nodes: [Node] = []
    private var indices: [ExactText: Int32] = [:]

    /// Schemas with an identifier, by it.
    private var resources: [ExactText: String] = [:]
    /// Anchors, by the identifier of their resource, `#` and the name.
    private var anchors: [ExactText: String] = [:]
    /// The places of all `$dynamicAnchor`s by name.
    private var dynamicAnchors: [ExactText: [String]] = [:]
    /// The bases of the places at which one begins.
    private var bases: [ExactText: URIReference] = [:]

    /// Levels of arrays and objects in a schema.
    static let depthLimit = 512

    init(_ root: JSONValue) throws(GrammarError) {
        self.root = root
        var dialect = SchemaDialect.draft2020
        if let value = root["$schema"] {
            guard let uri = value.stringValue else {
                throw GrammarError(.invalid, keyword: "$schema", path: "#", "must be a string")
            }
            guard let known = SchemaDialect(uri: uri) else {
                throw GrammarError(.unsupported, keyword: "$schema", path: "#", "the dialect '\(uri)' is not known")
            }
            dialect = known
        }
        self.dialect = dialect
        try indexIdentifiers()
    }

    // MARK: Identifiers

    /// The keywords whose value is no schema and holds none, whatever it looks like.
    private static let opaqueKeywords: Set<String> = ["enum", "const", "default", "examples", "example"]
    /// The keywords whose value is an object of schemas by name, so that their keys are no keywords.
    private static let mapKeywords: Set<String> = [
        "properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies",
    ]

    private func indexIdentifiers() throws(GrammarError) {
        bases[ExactText("")] = URIReference("")
        resources[ExactText("")] = ""
        var stack: [(value: JSONValue, path: String, base: URIReference, isMap: Bool, depth: Int)] = [
            (root, "", URIReference(""), false, 0)
        ]
        while let (value, path, parent, isMap, depth) = stack.popLast() {
            guard depth <= Self.depthLimit else {
                throw GrammarError(
                    .tooComplex, keyword: "schema", path: "#", "nested deeper than \(Self.depthLimit)")
            }
            switch value {
            case .array(let elements):
                for (index, element) in elements.enumerated() {
                    stack.append((element, "\(path)/\(index)", parent, false, depth + 1))
                }
            case .object(let object):
                var base = parent
                if !isMap {
                    let identifier = dialect <= .draft4 ? object["id"] ?? object["$id"] : object["$id"]
                    // In the older editions a reference makes its neighbours, identifiers too, void.
                    if let text = identifier?.stringValue, dialect > .draft7 || object["$ref"]?.stringValue == nil {
                        let reference = URIReference(text)
                        if reference.resource.isEmpty, let fragment = reference.fragment, !fragment.isEmpty {
                            anchors[ExactText("\(parent.resource)#\(fragment)")] = path
                        } else {
                            base = reference.resolved(against: parent)
                            base.fragment = nil
                            resources[ExactText(base.resource)] = path
                            bases[ExactText(path)] = base
                        }
                    }
                    for keyword in ["$anchor", "$dynamicAnchor"] {
                        if let name = object[keyword]?.stringValue {
                            anchors[ExactText("\(base.resource)#\(name)")] = path
                        }
                    }
                    if let name = object["$dynamicAnchor"]?.stringValue {
                        dynamicAnchors[ExactText(name), default: []].append(path)
                    }
                }
                for (key, member) in object {
                    if !isMap, Self.opaqueKeywords.contains(key) { continue }
                    switch member {
                    case .array, .object:
                        let place = path + "/" + Self.escaped(key)
                        stack.append((member, place, base, !isMap && Self.mapKeywords.contains(key), depth + 1))
                    default: break
                    }
                }
            default: break
            }
        }
    }

    static func escaped(_ key: String) -> String {
        guard key.utf8.contains(where: { $0 == UInt8(ascii: "~") || $0 == UInt8(ascii: "/") }) else { return key }
        var result = ""
        // Code point by code point: a mark that combines with one of the two does not hide it.
        for scalar in key.unicodeScalars {
            switch scalar {
            case "~": result += "~0"
            case "/": result += "~1"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// The key that a part of a JSON pointer stands for (RFC 6901, section 4).
    private static func unescaped(_ token: String) -> String {
        guard token.utf8.contains(UInt8(ascii: "~")) else { return token }
        var result = String.UnicodeScalarView()
        var isEscape = false
        for scalar in token.unicodeScalars {
            switch (isEscape, scalar) {
            case (false, "~"):
                isEscape = true
                continue
            case (true, "0"): result.append("~")
            case (true, "1"): result.append("/")
            case (true, _): result.append(contentsOf: ["~", scalar])
            case (false, _): result.append(scalar)
            }
            isEscape = false
        }
        if isEscape { result.append("~") }
        return String(result)
    }

    // MARK: Places

    /// The subschema at a place that the caller has come to by way of its parent.
    func node(_ value: JSONValue, path: String, base: URIReference) -> Int32 {
        if let known = indices[ExactText(path)] { return known }
        let index = Int32(nodes.count)
        indices[ExactText(path)] = index
        nodes.append(Node(value: value, path: path, base: bases[ExactText(path)] ?? base))
        return index
    }

    func child(_ value: JSONValue, of parent: Node, _ keyword: String) -> Int32 {
        node(value, path: parent.path + "/" + keyword, base: parent.base)
    }

    func child(_ value: JSONValue, of parent: Node, _ keyword: String, key: String) -> Int32 {
        node(value, path: "\(parent.path)/\(keyword)/\(Self.escaped(key))", base: parent.base)
    }

    func child(_ value: JSONValue, of parent: Node, _ keyword: String, index: Int) -> Int32 {
        node(value, path: "\(parent.path)/\(keyword)/\(index)", base: parent.base)
    }

    // MARK: References

    /// The subschema that a reference leads to.
    func resolve(_ text: String, from node: Node, keyword: String) throws(GrammarError) -> Int32 {
        func unresolvable(_ message: String) -> GrammarError {
            GrammarError(.unresolvable, keyword: keyword, path: "#" + node.path, message)
        }
        let reference = URIReference(text).resolved(against: node.base)
        guard let resource = resources[ExactText(reference.resource)] else {
            throw unresolvable("'\(text)' is not in this document; only references inside the document can be followed")
        }
        let fragment = reference.fragment ?? ""
        if fragment.isEmpty || fragment.utf8.first == UInt8(ascii: "/") {
            guard let pointer = URIReference.percentDecoded(fragment) else {
                throw unresolvable("'\(text)' is not a JSON pointer")
            }
            guard let node = walk(pointer, from: resource) else { throw unresolvable("'\(text)' leads nowhere") }
            return node
        }
        guard let path = anchors[ExactText("\(reference.resource)#\(fragment)")], let node = walk("", from: path) else {
            throw unresolvable("there is no anchor '\(text)'")
        }
        return node
    }

    /// The subschema that a dynamic reference leads to, where the document leaves only one.
    func resolveDynamic(_ text: String, from node: Node, keyword: String) throws(GrammarError) -> Int32 {
        let target = try resolve(text, from: node, keyword: keyword)
        if let fragment = URIReference(text).fragment,
            nodes[Int(target)].value["$dynamicAnchor"] == .string(fragment),
            (dynamicAnchors[ExactText(fragment)]?.count ?? 0) > 1
        {
            throw GrammarError(
                .unsupported, keyword: keyword, path: "#" + node.path,
                "more than one schema has the dynamic anchor '\(fragment)'")
        }
        return target
    }

    private func walk(_ pointer: String, from start: String) -> Int32? {
        let path = start + pointer
        var base = bases[ExactText("")] ?? URIReference("")
        var value = root
        var place = ""
        // Byte by byte: characters would be slow to find, and a mark that combines with a `/` would hide it.
        for part in path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).dropFirst() {
            let token = String(Substring(part))
            switch value {
            case .object(let object):
                guard let member = object[Self.unescaped(token)] else { return nil }
                value = member
            case .array(let elements):
                guard let index = Int(token), elements.indices.contains(index) else { return nil }
                value = elements[index]
            default: return nil
            }
            place += "/" + token
            base = bases[ExactText(place)] ?? base
        }
        switch value {
        case .object, .bool: return node(value, path: place, base: base)
        default: return nil
        }
    }
}
