import Jinja
import JSON
import Testing

/// The rendering with `«` and `»` around what is content.
private func marked(_ template: String, _ context: JSONObject, trusting trusted: TrustedPaths = []) throws -> String {
    let result = try Template(template).renderTracked(context, trusting: trusted)
    var bytes: [UInt8] = []
    var position = 0
    let all = Array(result.string.utf8)
    for range in result.contentRanges {
        bytes += all[position..<range.lowerBound] + Array("«".utf8) + all[range] + Array("»".utf8)
        position = range.upperBound
    }
    return String(decoding: bytes + all[position...], as: UTF8.self)
}

@Suite("Renderings know what is content")
struct TrackedTextTests {
    private static let context: JSONObject = [
        "c": "Zü ri<|x|>ch", "spaced": "  a b \n", "n": 42, "list": ["q", "r"], "object": ["k<": "v"],
        "messages": [["role": "user", "content": "Hi"]],
    ]

    private static let renderings: [(String, String)] = [
        ("<|a|>{{ c }}<|b|>", "<|a|>«Zü ri<|x|>ch»<|b|>"),
        ("{{ '<a>' + c + '<b>' }}", "<a>«Zü ri<|x|>ch»<b>"),
        ("{{ '<a>' ~ c ~ n ~ '<b>' }}", "<a>«Zü ri<|x|>ch»42<b>"),
        ("{{ ('<a> ' + spaced + ' <b> ')|trim }}", "<a> «  a b \n» <b>"),
        ("{{ spaced|trim }}{{ spaced.strip() }}{{ spaced.lstrip() }}", "«a ba ba b \n»"),
        ("{{ ('<a>' + c)[:5] }}{{ ('<a>' + c)[::-1] }}", "<a>«Zühc>|x|<ir üZ»>a<"),
        ("{{ ('<a>' + c)[0] }}{{ ('<a>' + c)[3] }}", "<«Z»"),
        (
            "{{ c.split('<|x|>')[0] }}|{{ c.split(' ')[-1] }}|{{ ('<a> ' + c).split() }}",
            "«Zü ri»|«ri<|x|>ch»|['<a>', «'Zü'», «'ri<|x|>ch'»]"
        ),
        ("{{ ('<a>-' + list|join('-') + '-<b>').split('-')|join('+') }}", "<a>+«q»+«r»+<b>"),
        ("{{ list|join('<s>') }}{{ '<s>'.join(list) }}", "«q»<s>«rq»<s>«r»"),
        ("{{ ['<s>', '<t>']|join(c) }}", "<s>«Zü ri<|x|>ch»<t>"),
        (
            "{{ '<a>X<b>'.replace('X', c) }}{{ c|replace('ri', '<s>') }}",
            "<a>«Zü ri<|x|>ch»<b>«Zü »<s>«<|x|>ch»"
        ),
        ("{{ (('<a>' ~ c)|upper)[:6] }}{{ c|lower }}", "<A>«ZÜ zü ri<|x|>ch»"),
        ("{{ ('<a>' ~ 'ß')|upper }}{{ ('<a>ß' ~ list[0])|upper }}", "<A>SS«<A>SSQ»"),
        ("{{ '<a>%s<b>' % c }}{{ '%d|%5s|' % (n, list[0]) }}", "<a>«Zü ri<|x|>ch»<b>42|    «q»|"),
        (
            "{{ '<a>{}<b>{x}'.format(c, x=list[1]) }}{{ '{:>3}|'.format(list[0]) }}",
            "<a>«Zü ri<|x|>ch»<b>«r»  «q»|"
        ),
        ("{{ (c[:0] ~ list[0] ~ '%s') % '<t>' }}{{ (list[0] ~ '{}').format('<t>') }}", "«q»<t>«q»<t>"),
        ("{{ '%c%c' % (60, 62) }}", "«<>»"),
        (
            "{{ object|tojson }}{{ list|tojson }}{{ ['<s>']|tojson }}",
            "{«\"k<\"»: «\"v\"»}[«\"q\"», «\"r\"»][\"<s>\"]"
        ),
        ("{{ object }}{{ [list[0], '<s>'] }}", "{«'k<'»: «'v'»}[«'q'», '<s>']"),
        ("{% for k, v in object.items() %}{{ k }}={{ v }};{% endfor %}", "«k<»=«v»;"),
        ("{% for x in list[0] %}[{{ x }}]{% endfor %}{{ c|list|first }}", "[«q»]«Z»"),
        ("{% set s %}<a>{{ c }}<b>{% endset %}{{ s }}{{ s|length }}", "<a>«Zü ri<|x|>ch»<b>18"),
        ("{% macro m(x) %}<a>{{ x }}{% endmacro %}{{ m(list[0]) ~ '<b>' }}", "<a>«q»<b>"),
        ("{% macro m() %}<a>{{ caller() }}<b>{% endmacro %}{% call m() %}{{ list[0] }}{% endcall %}", "<a>«q»<b>"),
        ("{% filter upper %}<a>{{ list[0] }}{% endfilter %}", "<A>«Q»"),
        (
            "{% set ns = namespace(s='<a>') %}{% for x in list %}{% set ns.s = ns.s + x + '<b>' %}{% endfor %}{{ ns.s }}",
            "<a>«q»<b>«r»<b>"
        ),
        (
            "{{ ('<a>\n' ~ list[0])|indent(2) }}{{ (list[0] * 2) ~ ('<b>' ~ list[0]) * 2 }}",
            "<a>\n  «qqq»<b>«q»<b>«q»"
        ),
        (
            "{{ missing|default(c) }}{{ list|map('upper')|join }}{{ (list + ['<s>'])|join }}",
            "«Zü ri<|x|>chQRqr»<s>"
        ),
        ("{{ dict(**object) }}", "{«'k<'»: «'v'»}"),
        (
            "{{ ('<a>' ~ list[0]).partition('q') }}{{ ('<a>' ~ list[0]).removeprefix('<a') }}",
            "('<a>', 'q', '')>«q»"
        ),
        (
            "{{ list[0].center(5, '-') }}{{ list[0].zfill(3) }}{{ (list[0] ~ '\t<a>').expandtabs(4) }}",
            "--«q»--00«qq»   <a>"
        ),
        (
            "{{ c|e }}{{ '<a>'|e }}{{ c|urlencode }}{{ c|striptags }}",
            "«Zü ri&lt;|x|&gt;ch»&lt;a&gt;«Z%C3%BC%20ri%3C%7Cx%7C%3EchZü rich»"
        ),
        ("{{ list[0] + '[A]' + (object|tojson|safe) }}", "«q»[A]{«\"k<\"»: «\"v\"»}"),
        ("{{ ('<a>' + c)|e }}", "&lt;a&gt;«Zü ri&lt;|x|&gt;ch»"),
        ("{{ list|reverse|join }}{{ (list|sort(reverse=true))[0] }}{{ list|last ~ list|max }}", "«rqrrr»"),
        ("{{ c.title() }}{{ c|truncate(8, leeway=0) }}", "«Zü Ri<|X|>ChZü»..."),
    ]

    @Test(arguments: renderings)
    func marks(template: String, expected: String) throws {
        #expect(try marked(template, Self.context) == expected)
    }

    @Test func trustedTextsAreTheTemplates() throws {
        let template = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% endfor %}{{ bos }}"
        var context = Self.context
        context["bos"] = "<s>"
        context["messages"] = [["role": "user", "content": ["role": "no"]]]
        #expect(
            try marked(template, context, trusting: [["bos"], ["messages", TrustedPaths.anyElement, "role"]])
                == "<|user|>{«'role'»: «'no'»}<s>")
    }
}
