import Foundation
import JSON
import Jinja
import Testing

/// What jinja2 makes of a template, as `Fixtures/make.py` wrote it down.
private struct ReferenceCase: Sendable, CustomTestStringConvertible {
    enum Outcome: Sendable, Equatable {
        case text(String)
        case raised(String)
        case error
    }

    let group: String
    let template: String
    let outcome: Outcome

    var testDescription: String { "\(group): \(template)" }
}

private struct Reference: Sendable {
    let now: Date
    let context: JSONObject
    let cases: [ReferenceCase]

    static let shared: Reference = {
        guard let file = Bundle.module.url(forResource: "cases", withExtension: "json", subdirectory: "Fixtures"),
            let data = try? Data(contentsOf: file), let json = try? JSONValue(parsing: Array(data)),
            let now = json["now"]?.numberValue?.doubleValue, let context = json["context"]?.objectValue
        else { fatalError("no readable Fixtures/cases.json") }
        let cases = (json["cases"]?.arrayValue ?? []).map { entry in
            ReferenceCase(
                group: entry["group"]?.stringValue ?? "", template: entry["template"]?.stringValue ?? "",
                outcome: entry["text"]?.stringValue.map(ReferenceCase.Outcome.text)
                    ?? entry["raised"]?.stringValue.map(ReferenceCase.Outcome.raised) ?? .error)
        }
        return Reference(now: Date(timeIntervalSince1970: now), context: context, cases: cases)
    }()
}

/// `strftime_now` writes local time, and the fixtures were made for universal time.
private let localNow: Date = {
    let offset = TimeZone.current.secondsFromGMT(for: Reference.shared.now)
    return Reference.shared.now.addingTimeInterval(-Double(offset))
}()

private func outcome(
    _ template: String, _ context: JSONObject = Reference.shared.context, limits: RenderLimits = .default
) -> ReferenceCase.Outcome {
    do throws(JinjaError) {
        return .text(try Template(template).render(context, limits: limits, now: localNow))
    } catch {
        if case .raised(let message) = error.reason { return .raised(message) }
        return .error
    }
}

private func fault(
    _ template: String, _ context: JSONObject = [:], limits: RenderLimits = .default
) -> JinjaError? {
    do throws(JinjaError) {
        _ = try Template(template).render(context, limits: limits)
        return nil
    } catch { return error }
}

@Suite("Templates give what jinja2 gives")
struct ReferenceTests {
    @Test func fixturesAreThere() { #expect(Reference.shared.cases.count > 300) }

    @Test(arguments: Reference.shared.cases) private func equalsReference(_ reference: ReferenceCase) {
        #expect(outcome(reference.template) == reference.outcome)
    }

    @Test func oneTemplateRendersManyTimes() throws {
        let template = try Template("{% set ns = namespace(n=0) %}{% set ns.n = ns.n + x %}{{ ns.n }}")
        for number in 1...3 { #expect(try template.render(["x": .number(JSONNumber(number))]) == "\(number)") }
    }
}

@Suite("Errors of templates name what and where")
struct JinjaErrorTests {
    private static let reasons: [(String, JinjaError.Reason, Int)] = [
        ("\n{{ 1|nosuch }}", JinjaError.Reason.unknownFilter(name: "nosuch"), 2),
        ("a\nb\n{{ 1 is nosuch }}", .unknownTest(name: "nosuch"), 3),
        ("{% nosuch %}", .unknownTag(name: "nosuch"), 1),
        ("\n\n{% include 'file' %}", .unknownTag(name: "include"), 3),
        ("{% if true %}\n{{ 1|nosuch }}{% endif %}", .unknownFilter(name: "nosuch"), 2),
        ("\n{{ raise_exception('Only \"user\"\nturns') }}", .raised("Only \"user\"\nturns"), 2),
        ("{# \n #}\n{{ missing.a }}", .undefined("'missing' is undefined"), 3),
        ("{{ x.a.b }}", .undefined("'dict object' has no attribute 'a'"), 1),
        ("{{ [].append(1) }}", .security("access to attribute 'append' of 'list' object is unsafe."), 1),
        ("{{ 1 / 0 }}", .value("division by zero"), 1),
        ("{{ 'a' + 1 }}", .type("unsupported operand type(s) for +: 'str' and 'int'"), 1),
    ]

    @Test(arguments: reasons)
    func reason(template: String, reason: JinjaError.Reason, line: Int) {
        let error = fault(template, ["x": .object([:])])
        #expect(error?.reason == reason)
        #expect(error?.line == line)
    }

    @Test func descriptionSaysLineAndWayOut() {
        #expect(
            fault("\n{% include 'a' %}")?.description
                == "chat template error on line 2: the tag 'include' needs another file, and a chat template is one file"
        )
    }
}

private let isDebugBuild: Bool = {
    var isDebug = false
    assert(
        {
            isDebug = true
            return true
        }())
    return isDebug
}()

@Suite("Hostile templates end with an error")
struct RenderLimitTests {
    private static func many(_ text: String, _ count: Int) -> String { String(repeating: text, count: count) }

    private static let hostile: [String] =
        [
            "{% for i in range(10**12) %}{% endfor %}",
            "{% for a in range(99999) %}{% for b in range(99999) %}{% for c in range(99999) %}{% endfor %}{% endfor %}{% endfor %}",
            "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
            "{% macro f() %}{% call f() %}{{ caller() }}{% endcall %}{% endmacro %}{{ f() }}",
            "{% for i in [[1]] recursive %}{{ loop([[i]]) }}{% endfor %}",
            "{% set ns = namespace(s='aaaaaaaa') %}{% for i in range(1000) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}",
            "{% set ns = namespace(s=[1]) %}{% for i in range(1000) %}{% set ns.s = ns.s + ns.s %}{% endfor %}",
            "{% set ns = namespace(s=[1]) %}{% for i in range(1000) %}{% set ns.s = [ns.s] %}{% endfor %}",
            "{% set ns = namespace(s=[1]) %}{% for i in range(90000) %}{% set ns.s = ns.s|map('string') %}{% endfor %}",
            "{% set ns = namespace(s=[1]) %}{% for i in range(60) %}{% set ns.s = [ns.s, ns.s] %}{% endfor %}{{ ns.s }}",
            "{% set ns = namespace(s=[1]) %}{% for i in range(60) %}{% set ns.s = [ns.s, ns.s] %}{% endfor %}{{ ns.s|tojson }}",
            "{% set ns = namespace() %}{% set ns.a = ns %}{{ ns }}",
        ]
        + [
            // Two values of 2⁶⁰ elements that are not the same.
            "{{ a == b }}", "{{ a != b }}", "{{ a < b }}", "{{ a in [b] }}", "{{ [a, b]|sort }}", "{{ [a, b]|max }}",
            "{{ [[a, 1], [b, 2]]|groupby(0) }}", "{{ [b].count(a) }}", "{{ [b].index(a) }}", "{{ a }}",
            "{{ a|tojson }}",
            "{{ a ~ '' }}", "{{ '%s' % [a] }}", "{{ '{}'.format(a) }}", "{{ {'k': a} == {'k': b} }}", "{{ a is eq b }}",
            "{{ {'k': a}.values()|list == [b] }}",
            "{% for x in [1] %}{{ loop.changed(a) }}{{ loop.changed(b) }}{% endfor %}",
            "{% for x in [a, b] %}{{ loop.changed(x) }}{% endfor %}", "{{ [a]|map('string')|list }}",
            "{{ a|string|length }}",
            "{{ [{'k': a}, {'k': b}]|selectattr('k', 'eq', a)|list|length }}{{ a == b }}",
        ].map {
            "{% set ns = namespace(a=[1], b=[1]) %}{% for i in range(60) %}{% set ns.a = [ns.a, ns.a] %}"
                + "{% set ns.b = [ns.b, ns.b] %}{% endfor %}{% set a = ns.a %}{% set b = ns.b %}" + $0
        }
        + [
            // The same as keys of dictionaries.
            "{{ {a: 1} }}", "{{ {}[a] }}", "{{ {}.get(a) }}", "{{ a in {} }}", "{{ [a, b]|unique|list }}",
            "{{ dict([[a, 1]]) }}", "{{ {}.fromkeys([a]) }}",
        ].map {
            "{% set ns = namespace(a=(1,)) %}{% for i in range(60) %}{% set ns.a = (ns.a, ns.a) %}{% endfor %}"
                + "{% set a = ns.a %}{% set b = (1, a) %}" + $0
        }
        + [
            "{% for i in range(90000) %}{{ 'a' * 60000 in 'a' * 30000 ~ 'b' }}{% endfor %}",
            "{% block a %}{{ self.a() }}{% endblock %}",
            "{{ 'a' * 10**12 }}", "{{ [0] * 10**12 }}", "{{ 10 ** (10 ** 10) }}", "{{ '%999999999d' % 1 }}",
            "{{ '{:999999999}'.format(1) }}",
            "{{ 'a'.center(10**11) }}", "{{ 'a'|indent(10**11) }}", "{{ ('a' * 10**6).replace('a', 'b' * 10**6) }}",
            "{{ ('a' * 10**6)|replace('', 'b' * 10**6) }}", "{{ ('x' * 10**6).join('a' * 10**6) }}",
            "{{ [1]|batch(10**12, 0)|list }}",
            "{{ []|slice(10**12)|list }}", "{{ [1]|tojson(indent=10**12) }}", "{{ ('\\t' * 10**5).expandtabs(10**9) }}",
            "{{ " + many("(", 100_000), "{{ " + many("[", 100_000),
            "{{ " + many("-", 100_000) + "1 }}",
            "{{ " + many("not ", 100_000) + "1 }}",
            "{{ 1" + many(" + 1", 100_000) + " }}",
            "{{ x" + many(".a", 100_000) + " }}",
            "{{ 1" + many("|abs", 100_000) + " }}",
            "{{ a" + many(" if a", 100_000) + " }}",
            "{{ a" + many(" if a else a", 100_000) + " }}",
            many("{% if 1 %}", 100_000), many("{% for i in [1] %}", 100_000),
            "{% set " + many("(", 100_000) + "a",
            "{{ 1 is " + many("eq 1 is ", 100_000),
            "{{ " + many("{1:", 100_000), "{{ " + many("f(", 100_000),
        ]

    @Test(arguments: hostile)
    func ends(template: String) {
        var limits = RenderLimits.default
        limits.outputBytes = 4 << 20
        limits.steps = 5_000_000
        #expect(fault(template, limits: limits) != nil)
    }

    private static let deepest: [String] = [
        "{% macro f() %}{% if true %}{{ [1, (f() ~ 'a')|upper] }}{% endif %}{% endmacro %}{{ f() }}",
        "{% macro f() %}{% for i in [1]|map('string') if i %}{% filter upper %}{% with a = f() %}{{ a }}{% endwith %}"
            + "{% endfilter %}{% endfor %}{% endmacro %}{{ f() }}",
        "{% for i in [[1]] recursive %}{% set a %}{{ loop([[i]]) }}{% endset %}{% endfor %}",
        "{% macro f() %}{% call f() %}{{ caller() if f() is defined else -f() + [{'a': f()}][0].a }}{% endcall %}{% endmacro %}{{ f() }}",
        "{{ " + many("(1, ", 90) + "1" + many(")", 90) + " }}",
        "{{ " + many("[", 99) + "1" + many("]", 99) + "|tojson }}",
        "{{ 1" + many(" + 1", 240) + " }}",
        "{{ 'a'" + many("|upper", 240) + " }}",
        "{% set ns = namespace(s=[1]) %}{% for i in range(190) %}{% set ns.s = ns.s|map('list')|select %}{% endfor %}{{ ns.s|list }}",
        "{% set ns = namespace(s=[1]) %}{% for i in range(190) %}{% set ns.s = [ns.s] %}{% endfor %}{{ ns.s }}{{ ns.s|tojson }}{{ ns.s == [ns.s] }}",
        many("{% if true %}", 99) + "a" + many("{% endif %}", 99),
        many("{% for i in [1] %}", 99) + "a" + many("{% endfor %}", 99),
    ]

    /// Threads of a pool have small stacks: the deepest nesting that is allowed fits into half a mebibyte.
    @Test(arguments: deepest)
    func smallStackIsEnough(template: String) async {
        await withCheckedContinuation { continuation in
            let thread = Thread {
                _ = fault(template)
                continuation.resume()
            }
            // Debug builds keep every intermediate value in memory of its own: their frames are some ten times as large.
            thread.stackSize = isDebugBuild ? 16 << 20 : 512 << 10
            thread.start()
        }
    }

    @Test func timeIsBounded() {
        var limits = RenderLimits.default
        limits.steps = .max
        limits.duration = .milliseconds(50)
        // Ten thousand million rounds: without the limit this would not end within the hour.
        let error = fault(
            "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}", limits: limits)
        #expect(error?.reason == .limit("the template takes longer than \(limits.duration)"))
    }

    /// What is the same is not walked, and small values beside large ones are no fault.
    @Test func sharedValuesCompare() {
        let shared = "{% set ns = namespace(a=[1]) %}{% for i in range(60) %}{% set ns.a = [ns.a, ns.a] %}{% endfor %}"
        #expect(outcome(shared + "{{ ns.a == [1] }}{{ 1 in ns.a }}{{ ns.a|length }}") == .text("FalseFalse2"))
    }

    @Test func outputIsBounded() {
        var limits = RenderLimits.default
        limits.outputBytes = 1000
        #expect(outcome("{% for i in range(100) %}0123456789{% endfor %}", limits: limits) != .error)
        #expect(outcome("{% for i in range(101) %}0123456789{% endfor %}", limits: limits) == .error)
    }
}
