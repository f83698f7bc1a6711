import JSON

/// The edition of JSON Schema that a document is written for, as far as editions differ.
enum SchemaDialect: Int, Comparable {
    case draft3, draft4, draft6, draft7, draft2019, draft2020

    /// The edition that a `$schema` names; nil for one that is not known.
    init?(uri: String) {
        var name = uri
        if name.hasSuffix("#") { name.removeLast() }
        if name.hasSuffix("/") { name.removeLast() }
        for scheme in ["http://", "https://"] where name.hasPrefix(scheme) { name.removeFirst(scheme.count) }
        switch name {
        case "json-schema.org/draft-03/schema": self = .draft3
        case "json-schema.org/draft-04/schema": self = .draft4
        case "json-schema.org/draft-06/schema": self = .draft6
        case "json-schema.org/draft-07/schema", "json-schema.org/schema": self = .draft7
        case "json-schema.org/draft/2019-09/schema": self = .draft2019
        case "json-schema.org/draft/2020-12/schema": self = .draft2020
        default: return nil
        }
    }

    static func < (left: SchemaDialect, right: SchemaDialect) -> Bool { left.rawValue < right.rawValue }
}
