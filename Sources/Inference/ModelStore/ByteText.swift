/// Sizes and times as a reader wants them.
package enum ByteText {
    /// A count of bytes in decimal units, such as `1.12 GB`, as download pages and disks count.
    package static func size(_ bytes: Int64) -> String {
        let units = ["B", "kB", "MB", "GB", "TB"]
        var value = Double(bytes)
        var unit = 0
        // 999.95 would round to the next unit's 1000.
        while abs(value) >= (unit == 0 ? 1000 : 999.5), unit < units.count - 1 {
            value /= 1000
            unit += 1
        }
        if unit == 0 { return "\(bytes) B" }
        let decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0
        return "\(fixed(value, decimals)) \(units[unit])"
    }

    /// A number of seconds as `42 s`, `3:07` or `1:03:07`.
    package static func duration(_ seconds: Double) -> String {
        guard seconds.isFinite, seconds < 360_000 else { return "more than 99 hours" }
        let whole = Int(max(0, seconds).rounded())
        if whole < 60 { return "\(whole) s" }
        func two(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
        if whole < 3600 { return "\(whole / 60):\(two(whole % 60))" }
        return "\(whole / 3600):\(two(whole / 60 % 60)):\(two(whole % 60))"
    }

    private static func fixed(_ value: Double, _ decimals: Int) -> String {
        let scale = [1.0, 10.0, 100.0][decimals]
        let scaled = Int64((value * scale).rounded())
        guard decimals > 0 else { return "\(scaled)" }
        let fraction = String(scaled.magnitude % UInt64(scale))
        let padding = String(repeating: "0", count: decimals - fraction.count)
        return "\(scaled / Int64(scale)).\(padding)\(fraction)"
    }
}
