/// The arguments of one command, in the order in which they came.
package struct Arguments: Sendable, Hashable {
    package enum Argument: Sendable, Hashable {
        /// An option by its main name.
        case option(String, value: String?)
        case operand(String)
    }

    package var list: [Argument]

    package init(_ list: [Argument]) { self.list = list }

    package var operands: [String] {
        list.compactMap { if case .operand(let text) = $0 { text } else { nil } }
    }

    package func has(_ name: String) -> Bool {
        list.contains { if case .option(name, _) = $0 { true } else { false } }
    }

    package func values(_ name: String) -> [String] {
        list.compactMap { if case .option(name, let value) = $0 { value } else { nil } }
    }

    package subscript(name: String) -> String? { values(name).last }

    /// The value of an option as a whole number in a range.
    package func integer(_ name: String, in range: ClosedRange<Int>) throws(UsageError) -> Int? {
        guard let text = self[name] else { return nil }
        guard let value = Int(text), range.contains(value) else {
            let bounds =
                range.upperBound == .max ? "\(range.lowerBound) or more" : "\(range.lowerBound) to \(range.upperBound)"
            throw UsageError("\(name) takes a whole number, \(bounds), not '\(text)'")
        }
        return value
    }

    /// The value of an option as a number in a range.
    package func number(_ name: String, in range: ClosedRange<Double>) throws(UsageError) -> Double? {
        guard let text = self[name] else { return nil }
        guard let value = Double(text), range.contains(value) else {
            throw UsageError("\(name) takes a number from \(range.lowerBound) to \(range.upperBound), not '\(text)'")
        }
        return value
    }

    /// Refuses options that exclude each other.
    package func requireAtMostOne(of names: String...) throws(UsageError) {
        let given = names.filter(has)
        guard given.count > 1 else { return }
        throw UsageError("\(given[0]) and \(given[1]) exclude each other")
    }
}

/// A command line that cannot be carried out; the text says what is wrong with it.
package struct UsageError: Error, Hashable {
    package var message: String
    package init(_ message: String) { self.message = message }
}
