import JSON
import Jinja
import Testing

/// Work that grows out of proportion to the template is refused before it is done.
@Suite("Limits of templates count what is made") struct LimitTests {
    private func render(_ source: String, outputBytes: Int = 1 << 20) throws(JinjaError) -> String {
        var limits = RenderLimits.default
        limits.outputBytes = outputBytes
        return try Template(source).render([:], limits: limits)
    }

    private func reason(_ source: String, outputBytes: Int = 1 << 20) -> JinjaError.Reason? {
        do throws(JinjaError) {
            _ = try render(source, outputBytes: outputBytes)
            return nil
        } catch { return error.reason }
    }

    private func isLimit(_ reason: JinjaError.Reason?) -> Bool { if case .limit = reason { true } else { false } }

    @Test("Escaping is charged for its result and takes time in proportion to it") func escaping() throws {
        #expect(try render("{{ '<a&b>\"é' | e | forceescape }}") == "&amp;lt;a&amp;amp;b&amp;gt;&amp;#34;é")
        #expect(
            try render("{{ ('<' * 100000) | e | forceescape | forceescape | length }}", outputBytes: 64 << 20)
                == "1200000")
        #expect(isLimit(reason("{{ ('<' * 300000) | e }}")))
        #expect(isLimit(reason("{{ ('a' | safe) + '<' * 300000 }}")))
        let start = ContinuousClock.now
        #expect(try render("{{ ('<' * 300000) | e | length }}", outputBytes: 64 << 20) == "1200000")
        #expect(ContinuousClock.now - start < .seconds(20))
    }

    @Test("Marks of content stay where they belong") func marks() throws {
        let context: JSONObject = ["a": "<x&"]
        let text = try Template("{{ ('<' ~ a ~ '>') | e }}").renderTracked(context, trusting: [])
        #expect(text.string == "&lt;&lt;x&amp;&gt;")
        #expect(text.contentRanges == [4..<14])
    }

    @Test(
        "Digits are charged before they are made",
        arguments: [
            "{{ '%.1000000000f' | format(1.5) }}", "{{ '%.1000000000e' | format(1.5) }}",
            "{{ '%1000000000d' | format(1) }}",
            "{{ '%.1000000000d' | format(1) }}", "{{ '%.*f' | format(999999999, 1.5) }}",
            "{{ '{:.999999999f}'.format(1.5) }}", "{{ '{:.999999999%}'.format(1.5) }}",
            "{{ '{:0999999999}'.format(1) }}",
            "{{ '%*d' | format(9223372036854775807, 1) }}",
        ]) func digits(source: String)
    {
        #expect(isLimit(reason(source)))
    }

    @Test("As many digits as are wanted") func manyDigits() throws {
        #expect(try render("{{ '%.2000f' | format(0.5) }}") == "0.5" + String(repeating: "0", count: 1999))
        #expect(try render("{{ '%.1500e' | format(2.0) }}") == "2." + String(repeating: "0", count: 1500) + "e+00")
        #expect(try render("{{ '%.3000g' | format(0.5) }}") == "0.5")
        #expect(
            try render("{{ '{:012,}'.format(1234) }}|{{ '{:011,}'.format(1234) }}|{{ '{:013,}'.format(1234) }}")
                == "0,000,001,234|000,001,234|0,000,001,234")
        #expect(try render("{{ '{:0300000,}'.format(1) | length }}") == "300001")
        #expect(try render("{{ (-1e300) | filesizeformat }}").hasPrefix("-1000000000000000052504760255204420"))
        #expect(reason("{{ (-1e308 * 10) | filesizeformat }}") != nil)
    }

    @Test("A source is at most a megabyte long") func source() throws {
        let most = Template.maximumSourceBytes
        #expect(try Template(String(repeating: "x", count: most)).render([:]).utf8.count == most)
        #expect(isLimit(reason(String(repeating: "{{x}}", count: most / 5 + 1))))
        #expect(isLimit(reason(String(repeating: "x", count: 20_000_000))))
    }
}
