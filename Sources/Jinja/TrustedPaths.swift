/// Places in a template's context whose texts its maker vouches for, such as the roles of messages: they count as words of
/// the template, everything else as content.
package struct TrustedPaths: Sendable, ExpressibleByArrayLiteral {
    /// Stands for each element of a list.
    package static let anyElement = "*"

    private var paths: [[String]]

    /// - Parameter paths: Names from the outside in.
    package init(_ paths: [[String]]) { self.paths = paths }

    package init(arrayLiteral paths: [String]...) { self.init(paths) }

    /// Whether a text that stands here is trusted.
    var containsItself: Bool { paths.contains(where: \.isEmpty) }

    /// The places inside one of the values here.
    subscript(name: String) -> TrustedPaths {
        TrustedPaths(paths.filter { $0.first == name }.map { Array($0.dropFirst()) })
    }
}
