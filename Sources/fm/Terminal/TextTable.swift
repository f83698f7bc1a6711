/// Rows of texts in columns: the first column stands left, the others right.
package struct TextTable {
    package var header: [String]
    package var rows: [[String]]

    package init(_ header: [String], _ rows: [[String]]) {
        self.header = header
        self.rows = rows
    }

    private var widths: [Int] {
        header.indices.map { column in
            max(header[column].count, rows.map { $0[column].count }.max() ?? 0)
        }
    }

    private func padded(_ row: [String], _ widths: [Int]) -> [String] {
        row.enumerated().map { column, text in
            let space = String(repeating: " ", count: widths[column] - text.count)
            return column == 0 ? text + space : space + text
        }
    }

    /// For a terminal.
    package var lines: [String] {
        let widths = widths
        return ([header] + rows).map { padded($0, widths).joined(separator: "  ") }
    }

    /// For Markdown.
    package var markdown: [String] {
        let widths = widths
        func line(_ row: [String]) -> String { "| \(padded(row, widths).joined(separator: " | ")) |" }
        let rule = widths.enumerated().map { column, width in
            column == 0 ? String(repeating: "-", count: width) : String(repeating: "-", count: width - 1) + ":"
        }
        return [line(header), line(rule)] + rows.map(line)
    }
}
