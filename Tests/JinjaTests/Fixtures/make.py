"""Writes cases.json: templates and what jinja2 makes of them, set up as `transformers` does.

    python make.py            # with jinja2 and transformers installed
"""

import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "Benchmarks" / "figures"))
import _jinja  # noqa: E402
import _jinja_fuzz  # noqa: E402

CASES = {
    "precedence": """
        {{ 1 + 2 * 3 ** 2 }} {{ -2 ** 2 }} {{ 2 ** 3 ** 2 }} {{ 7 // 2 * 2 }} {{ -7 // 2 }} {{ -7 % 3 }} {{ 7 % -3 }} {{ 1 - 2 - 3 }}
        {{ 'a' ~ 1 + 2 }}
        {{ 1 ~ 2 * 3 }} {{ not 1 == 2 }} {{ not true and false }} {{ 1 < 2 < 3 }} {{ 3 > 2 > 2 }} {{ 1 in [1] == true }}
        {{ 'x' if 0 else 'y' if 0 else 'z' }}[{{ 'x' if 0 }}] {{ -1|abs }} {{ (1, 2) + (3,) }} {{ 2 is odd or 1 }}
        {{ 1 not in [1, 2] }} {{ 5 is not none }} {{ 4 is divisibleby 2 and 1 }} {{ [1, 2][0] + 1 }} {{ 'a' 'b' }}
    """,
    "numbers": """
        {{ 9223372036854775807 + 1 }} {{ -9223372036854775808 - 1 }} {{ 2 ** 100 }} {{ 10 ** 40 // 7 ** 20 }} {{ -(10 ** 30) % 7 }}
        {{ 123456789012345678901234567890 * 987654321098765432109876543210 }} {{ 10 ** 25 / 10 ** 24 }} {{ 2 ** -2 }}
        {{ 1e16 }} {{ 1e15 }} {{ 123456.789 }} {{ 1e-4 }} {{ 1e-5 }} {{ 0.1 + 0.2 }} {{ 1.0 }} {{ -0.0 }} {{ 5e-324 }} {{ 1.7e308 }}
        {{ 7 / 2 }} {{ 6 / 2 }} {{ 7.5 // 2 }} {{ -7.5 % 2 }} {{ 1_000 }} {{ 0xff }} {{ 0b101 }} {{ 0o17 }} {{ true + true }} {{ 1 == 1.0 }}
        {{ 2.5|round }} {{ 3.5|round }} {{ 2.675|round(2) }} {{ 42|round }} {{ 1234|round(-2) }} {{ 1.21|round(1, 'ceil') }} {{ 42.55|round(1, 'floor') }}
        {{ '12'|int }} {{ '0x1f'|int(0, 16) }} {{ '4.7'|int }} {{ 'x'|int(3) }} {{ ' 7_0 '|int }} {{ '1e3'|float }} {{ 'nan'|float }} {{ none|int }}
        {{ 1 / 0 }}
        {{ 1 % 0 }}
        {{ 'a' + 1 }}
        {{ [1] < ['a'] }}
        {{ 10 ** 1000000000 }}
    """,
    "values": """
        {{ [1, 'a', none, true, 1.5, {'k': (1,)}, [], {}, ()] }} {{ 'it\\'s' }} {{ ["it's", '"', "'\\"", '\\n\\t\\\\', '\\x07é\\u2028'] }}
        {{ {1: 2, 1.0: 3, true: 4} }} {{ {'b': 1, 'a': 2} }} {{ range(3) }} {{ range(1, 9, 2)|list }} {{ d.items() }} {{ d.keys() }} {{ d.values() }}
        {{ [] or 'empty' }} {{ '' and 1 }} {{ 0.0 or none }} {{ [0]|length }} {{ missing }} {{ [missing] }} {{ missing is defined }} {{ missing or 1 }}
        {{ missing.a }}
        {{ d.zzz.a }}
        {{ d.zzz is undefined }} {{ none.a is undefined }} {{ missing == nothing }} {{ missing|length }} {% for i in missing %}x{% endfor %} {{ missing ~ 'a' }}
        {{ missing + 1 }}
        {{ missing() }}
        {{ s[0] }}{{ s[-1] }}{{ s[1:3] }}{{ s[::-1] }}{{ s[::2] }}{{ s[-3:] }}{{ s[:-3] }}{{ s[5:1] }}{{ s[99] }}{{ s[3:0:-1] }}
        {{ l[0] }}{{ l[-1] }}{{ l[1:] }}{{ l[::-1] }}{{ l[5] }}{{ l[:100] }}{{ (1, 2, 3)[:2] }}{{ l[true] }}{{ range(10)[2:5] }}
        {{ d['items'] }} {{ d.a }} {{ d['a'] }} {{ x[0].n }} {{ x.0.n }} {{ d.b.1 }}
        {{ 'a' in 'abc' }} {{ 'a' in d }} {{ 1 in l }} {{ '' in 'x' }} {{ 2 in range(3) }} {{ ('a', 1) in d.items() }} {{ 1.0 in l }}
        {{ 1 in 'abc' }}
        {{ 1 in 5 }}
        {{ l.append(1) }}
        {{ l.append is defined }} {{ d.update is defined }} {{ s.__class__ }}[{{ ''.__class__ is defined }}]
        {{ d.update({}) }}
        {{ {[]: 1} }}
        {{ {'a': 1} == {'a': 1.0} }} {{ [1, 2] == (1, 2) }} {{ 'é' == 'e\\u0301' }} {{ 'a' < 'b' }} {{ [1, 2] < [1, 3] }} {{ u|length }}
    """,
    "methods": """
        {{ s.upper() }} {{ s.lower() }} {{ 'hello world-wide x'.title() }} {{ 'hELLO'.capitalize() }} {{ 'aßΣ ΑΣ'.lower() }} {{ 'ß'.upper() }}
        {{ ' a b '.strip() }}|{{ 'xxaxx'.strip('x') }}|{{ '\\u00a0\\u2003a\\t\\n'.strip() }}|{{ 'abcba'.lstrip('ab') }}|{{ 'abcba'.rstrip('ab') }}
        {{ 'a,b,,c'.split(',') }} {{ ' a  b '.split() }} {{ 'a,b,c'.split(',', 1) }} {{ 'a,b,c'.rsplit(',', 1) }} {{ 'a\\r\\nb\\x0bc\\n'.splitlines() }} {{ ''.split(',') }} {{ ''.split() }}
        {{ 'abc'.startswith('ab') }} {{ 'abc'.endswith(('x', 'c')) }} {{ 'abc'.startswith('b', 1) }} {{ 'aXbX'.replace('X', '--') }} {{ 'aaa'.replace('a', 'b', 2) }} {{ 'ab'.replace('', '.') }}
        {{ 'abcabc'.find('c') }} {{ 'abcabc'.rfind('c') }} {{ 'abc'.find('z') }} {{ 'éab'.index('b') }} {{ 'aaaa'.count('aa') }} {{ ''.count('') }}
        {{ 'abc'.index('z') }}
        {{ ', '.join(['a', 'b']) }} {{ ''.join('xyz') }} {{ '-'.join(d) }}
        {{ ', '.join([1]) }}
        {{ 'a=b=c'.partition('=') }} {{ 'a=b=c'.rpartition('=') }} {{ 'abc'.removeprefix('a') }} {{ 'abc'.removesuffix('bc') }} {{ '7'.zfill(3) }} {{ '-7'.zfill(4) }} {{ 'a'.center(4, '*') }}{{ 'ab'.center(5, '*') }}
        {{ '12'.isdigit() }} {{ '²'.isdigit() }} {{ '½'.isnumeric() }} {{ 'aB'.isalpha() }} {{ ''.isspace() }} {{ 'a_1'.isidentifier() }} {{ 'Ab Cd'.istitle() }} {{ 'a\\tb'.expandtabs(4) }}
        {{ d.get('a') }} {{ d.get('z') }} {{ d.get('z', 5) }} {{ d.keys()|list }} {{ l.index(1) }} {{ l.count(1) }} {{ dict(a=1, **{'b': 2}) }} {{ dict([('x', 1)]) }}
        {{ '{} {0}'.format(1) }}
        {{ '{} {}'.format(1, 'a') }} {{ '{0}{1}{0}'.format('a', 'b') }} {{ '{a[b]} {a.b}'.format(a={'b': 1}) }} {{ '{:>5}|{:<5}|{:^5}|{:05d}|{:,}|{:.2f}|{:x}|{:#b}|{!r:>6}'.format(1, 2, 3, 4, 1234567, 2.345, 255, 5, 'q') }} {{ '{:.3}|{:g}|{:e}|{:%}|{:+}|{{}}'.format('abcdef', 0.0001, 12345.678, 0.25, 3) }}
        {{ '%s %d %5.1f|%-4s|%04d|%x|%r|%%' % ('a', 3.9, 2.25, 'b', 7, 255, 'q') }} {{ '%(k)s' % {'k': 1} }} {{ '%s' % missing }} {{ '%s' % [1] }}
        {{ '%d' % 'x' }}
        {{ '%s %s' % 'x' }}
        {{ s.nosuch() }}
        {{ s.upper(1) }}
    """,
    "filters": """
        {{ d|tojson }} {{ x|tojson(indent=2) }} {{ {'b': 1, 'a': [1.0, none, true]}|tojson(sort_keys=true, separators=(',', ':')) }} {{ u|tojson }} {{ u|tojson(ensure_ascii=true) }} {{ []|tojson(indent=2) }} {{ {1: 2, none: 3, 1.5: 4}|tojson }} {{ (1, 2)|tojson(indent='>') }} {{ '<&\\'>\\x7f'|tojson }} {{ {}|tojson(indent=0) }}{{ [1]|tojson(indent=0) }}
        {{ missing|tojson }}
        {{ range(3)|tojson }}
        {{ l|sort }} {{ k|sort }} {{ k|sort(case_sensitive=true) }} {{ l|sort(reverse=true) }} {{ x|sort(attribute='n,v')|map(attribute='v')|list }}
        {{ [1, 'a']|sort }}
        {{ x|map(attribute='n')|join(', ') }} {{ x|map(attribute='w.y', default='-')|list }} {{ k|map('upper')|list }} {{ ['1', '2']|map('int')|sum }}
        {{ x|selectattr('w')|list|length }} {{ x|selectattr('v', 'gt', 1)|map(attribute='v')|list }} {{ x|rejectattr('n', 'equalto', 'q')|list }} {{ [1, 2, 3]|select('odd')|list }} {{ [1, none]|reject('none')|list }} {{ [0, 1]|select|list }}
        {{ x|groupby('n') }} {{ ['a', 'A', 'b']|unique|list }} {{ d|dictsort }} {{ [3, 1]|max }} {{ ['b', 'A']|min }} {{ []|max }} {{ [1, 2.5]|sum }} {{ x|sum(attribute='v') }}
        {{ [1, 2, 3, 4, 5]|batch(2)|list }} {{ [1, 2, 3]|batch(2, 'x')|list }} {{ [1, 2, 3, 4, 5]|slice(2)|list }} {{ [1, 2, 3]|slice(2, 'x')|list }}
        {{ l|first }} {{ l|last }} {{ []|first }} {{ 'abc'|first }} {{ 'abc'|reverse }} {{ l|reverse|list }} {{ d|items|list }} {{ 'abc'|list }} {{ l|join }} {{ l|join('-') }} {{ x|join('|', attribute='n') }}
        {{ missing|default('D') }} {{ ''|d('D') }} {{ ''|default('D', true) }} {{ none|default('D') }} {{ missing|d }}
        {{ 'a\\nb\\n\\nc'|indent }} {{ 'a\\nb'|indent(2, true) }} {{ 'a\\n\\nb'|indent('>', blank=true) }} {{ 'foo bar baz qux'|truncate(9) }} {{ 'foo bar baz qux'|truncate(9, true) }} {{ 'foo bar baz qux'|truncate(11) }}
        {{ ' x '|trim }}|{{ 'xax'|trim('x') }}|{{ 'hello wörld (foo)'|title }} {{ 'ABC'|capitalize }} {{ 'a b_c d-e'|wordcount }} {{ 'ä b/c?'|urlencode }} {{ {'a b': 1}|urlencode }} {{ '<b>x  y</b>'|striptags }} {{ '<a href=\"x\">'|e }} {{ '<'|safe|e }} {{ ('<'|safe) + '<' }}
        {{ 'aXb'|replace('X', 1) }} {{ '%s-%s'|format(1, 2) }} {{ 13|string|length }} {{ -3|abs }} {{ 2048|filesizeformat }} {{ 'a'|center(5) }}| {{ {'a': 1, 'b': none}|xmlattr }} {{ d|attr('a') }}
        {{ 1|nosuch }}
        {% if false %}{{ 1|nosuch }}{% endif %}ok
        {% if true %}{{ 1|nosuch }}{% endif %}
        {% set g = l|map('nosuch') %}ok
        {% set g = l|map('string') %}{{ g|list }}{{ g|list }}{{ g is iterable }}{{ g is sequence }}
        {{ 5|length }}
        {{ l|map('nosuch')|list }}
    """,
    "tests": """
        {{ 1 is integer }} {{ 1.0 is float }} {{ true is integer }} {{ true is number }} {{ 'a' is string }} {{ [] is sequence }} {{ {} is mapping }} {{ {} is iterable }} {{ 5 is iterable }} {{ none is none }} {{ true is boolean }} {{ true is true }} {{ 1 is true }} {{ 0 is false }}
        {{ 3 is odd }} {{ 3 is even }} {{ 4 is divisibleby(2) }} {{ 'a' is in ['a'] }} {{ 'a' is lower }} {{ 'A1' is upper }} {{ 1 is eq 1 }} {{ 1 is ne(2) }} {{ 2 is gt 1 }} {{ 2 is lessthan 1 }} {{ none is sameas none }} {{ 'upper' is filter }} {{ 'odd' is test }} {{ range is callable }} {{ ('a'|safe) is escaped }}
        {{ 1 is nosuch }}
        {{ 1 is not defined }} {{ missing is not defined }} {{ 1 is defined and 2 is defined }}
        {{ 'a' is odd }}
        {{ 1 is defined is defined }}
    """,
}

# One template each, since they have lines.
TEMPLATES = {
    "whitespace": [
        "a\n  {% if true %}\n  b\n  {% endif %}\nc\n", "a {%- if true -%}  b  {%- endif -%} c", "a\n  {%+ if true %}\n b\n{% endif +%}\nc",
        "{{ 1 }}\n{{ 2 }}\n", "{{- ' a ' -}}\n  b", " {#- c -#} d {# e #}\n f", "  {# x #}\ny", "{% raw %}{{ x }} {% y %}{% endraw %}\nz",
        "  {%- raw -%}  a  {%- endraw -%}  b", "a\r\nb\rc\n\n", "x{% set a = 1 %}\n\n{{ a }}", "\t{% if 1 %}\t{% endif %}\t\n", "{#-#}a", "a {#+ b +#}\n c",
        "{{ '{{' }}{{ '%}' }}{{ \"#}\" }}", "{% if 1 -%}\n\n\n a{% endif %}", "a\u2003\n\u2003{% if 1 %}b{% endif %}", "{{ {'a': {}}}}", "{{ '\\n' }}|{{ 'a\nb' }}",
    ],
    "statements": [
        "{% for i in l %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.first }}{{ loop.last }}{{ loop.length }}{{ loop.previtem }}{{ loop.nextitem }};{% endfor %}",
        "{% for i in [] %}x{% else %}empty{% endfor %}{% for i in l if i > 1 %}{{ i }}{{ loop.length }}{{ loop.last }}{% else %}none{% endfor %}",
        "{% for a, b in y %}{{ a }}={{ b }};{% endfor %}{% for k, v in d.items() %}{{ k }}{{ loop.cycle('x', 'y') }}{{ loop.changed(v) }}{% endfor %}",
        "{% for i in y recursive %}[{{ loop.depth }}{{ i if i is string or i is number else loop(i) }}]{% endfor %}",
        "{% for i in range(10) %}{% if i == 2 %}{% continue %}{% endif %}{% if i == 5 %}{% break %}{% endif %}{{ i }}{% endfor %}",
        "{% for i in [1] %}{% continue %}{% else %}E{% endfor %}", "{% for i in l %}{% set n = i %}{{ n }}{% endfor %}{{ n }}",
        "{% set ns = namespace(c=0, d=[]) %}{% for i in l %}{% set ns.c = ns.c + i %}{% set ns.d = ns.d + [i] %}{% endfor %}{{ ns.c }}{{ ns.d }}{{ ns.z is defined }}{{ ns }}",
        "{% set a, b = 1, 2 %}{{ a }}{{ b }}{% set a, b = b, a %}{{ a }}{{ b }}{% set c %}x{{ a }}y{% endset %}{{ c }}{% set c | upper %}z{% endset %}{{ c }}",
        "{% set a, b = [1] %}", "{% set d.a = 1 %}", "{% set a = 1 %}{% if true %}{% set a = 2 %}{% endif %}{{ a }}{% with %}{% set a = 3 %}{{ a }}{% endwith %}{{ a }}",
        "{% with a = 1, b = n %}{{ a }}{{ b }}{% endwith %}{{ a }}", "{% filter upper %}a{{ n }}b{% endfilter %}", "{% filter length %}abc{% endfilter %}",
        "{% macro m(a, b=2, c=b) %}{{ a }},{{ b }},{{ c }};{% endmacro %}{{ m(1) }}{{ m(1, 3) }}{{ m(a=5, c=6) }}{{ m() }}{{ m }}{{ m.name }}{{ m.arguments }}",
        "{% macro m(a) %}{{ a }}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1, 2, 3, x=4) }}", "{% macro m(a) %}{% endmacro %}{{ m(1, 2) }}", "{% macro m(a) %}{% endmacro %}{{ m(z=2) }}",
        "{% macro m() %}<{{ caller() }}>{% endmacro %}{% call m() %}x{% endcall %}{{ m() }}", "{% macro m() %}{{ caller(1, 2) }}{% endmacro %}{% call(a, b) m() %}{{ b }}{{ a }}{% endcall %}",
        "{% macro f(n) %}{{ n }}{% if n > 0 %}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(5) }}", "{% macro m() %}{{ q }}{% endmacro %}{{ m() }}{% set q = 1 %}{{ m() }}{% for q in l %}{{ m() }}{% endfor %}",
        "{% for i in l %}{% macro m() %}{{ i }}{% endmacro %}{{ m() }}{% endfor %}", "{{ n }}{% for n in l %}{{ n }}{% endfor %}{{ n }}", "{% macro m() %}{{ n }}{% endmacro %}{{ m() }}{% set n = 1 %}",
        "{% generation %}{% set n = 1 %}{{ n }}{% endgeneration %}{{ n }}", "{% block a %}{{ n }}{% set n = 2 %}{{ n }}{% endblock %}{{ n }}", "{% set q = 5 %}{% block a %}{{ q }}{% for i in l %}{{ q }}{% endfor %}{% endblock %}",
        "{% set j = joiner(', ') %}{% for i in l %}{{ j() }}{{ i }}{% endfor %}{% set c = cycler('a', 'b') %}{{ c.next() }}{{ c.next() }}{{ c.next() }}{{ c.current }}",
        "{% if 0 %}a{% elif 1 %}b{% else %}c{% endif %}", "{% for i in 5 %}{% endfor %}", "{{ strftime_now('%Y-%m-%d %H:%M:%S %d %b %B %a %A %j %p %I %y %e %-d %%') }}",
        "{% for loop in l %}{% endfor %}", "{% for i in l %}{% set loop = 1 %}{% endfor %}", "{% autoescape false %}{{ '<' }}{% endautoescape %}", "{% print 1, 2 %}{% for i in l: %}{{ i }}{% endfor %}",
        "{% macro m() %}{% for i in l %}{% if i == 1 %}{% break %}{% endif %}{{ i }}{% endfor %}{% endmacro %}{{ m() }}", "{% for i in l %}{% for j in l %}{{ loop.index }}{% endfor %}{{ loop.index }}{% endfor %}",
        "{{ raise_exception('No: ' ~ n) }}", "{% if n == 7 %}{{ raise_exception('Conversation roles must alternate\nuser/assistant') }}{% endif %}",
        "{% for i in range(10**12) %}{% endfor %}", "{{ namespace(_a=1) }}", "{% set ns = namespace({'a': 1}, b=2) %}{{ ns.a }}{{ ns.b }}", "{{ dict.fromkeys(l, 0) }}",
    ],
    "blocks": [
        "{% for i in l %}{% block a scoped %}{{ i }}{{ loop.index }}{% set i = 9 %}{{ i }}{% endblock %}{{ i }};{% endfor %}",
        "{% for i in l %}{% block a %}[{{ i }}]{% endblock %}{% endfor %}", "{% set q = 5 %}{% for i in l %}{% block a scoped %}{{ q + i }}{% endblock %}{% endfor %}",
        "{% block a %}x{{ n }}{% endblock %}|{{ self.a() }}|{{ self.a()|upper }}", "{{ self.a() }}{% block a %}<{{ n }}>{% endblock %}{{ self.b is defined }}",
        "{% macro m(x) %}{% block a scoped %}{{ x }}{% endblock %}{% endmacro %}{{ m(3) }}{{ m(4) }}", "{% with z = 7 %}{% block a scoped %}{{ z }}{% block b scoped %}{{ z }}-{% endblock %}{% endblock %}{% endwith %}",
        "{% block a %}{{ self.b() }}{% endblock %}{% block b %}in b{% endblock %}", "{{ self.nosuch() }}", "{% block a %}{{ super() }}{% endblock %}", "{% block a %}{{ self.a() }}{% endblock %}",
        "{% for i in l %}{% block a scoped %}{% for j in l %}{{ i }}{{ j }}{{ loop.index }} {% endfor %}{{ loop.last }}{% endblock %}{% endfor %}", "{% block a scoped %}{{ n }}{% endblock %}",
    ],
    "faults": [
        "{% if %}", "{% if 1 %}", "{% endif %}", "{{ 1 +", "{{ (1 }}", "{{ 1 ) }}", "{% for i in l %}{% endif %}", "{% nosuch %}", "{% include 'a' %}", "{% import 'a' as b %}", "{% extends 'a' %}", "{% from 'a' import b %}",
        "{# a", "{% raw %}", "{{ 'a }}", "{{ a b }}", "{{ a. }}", "{{ a[1:2, 3] }}", "{% set 1 = 2 %}", "{% set true = 2 %}", "{% break %}", "{% for i in l %}{% macro m() %}{% break %}{% endmacro %}{% endfor %}", "{{ f(a=1, 2) }}", "{{ f(a=1, a=2) }}",
        "{% macro m(a=1, b) %}{% endmacro %}", "{% macro m(a, a) %}{% endmacro %}", "{% block a %}{% endblock %}{% block a %}{% endblock %}", "{{ ! }}", "{{ $ }}", "{{ '\\x1' }}", "{{ }}", "{% %}", "{{ 1 if }}", "{{ {1} }}", "{{ [1 2] }}", "{% call 1 %}{% endcall %}", "{% set a | nosuch %}{% endset %}",
    ],
}


def main():
    groups = {name: [line.strip() for line in text.strip().splitlines()] for name, text in CASES.items()} | TEMPLATES
    fuzz = _jinja_fuzz.Fuzz(20)
    random = (fuzz.template() for _ in iter(int, 1))
    groups["random"] = []
    while len(groups["random"]) < 150:
        template = next(random)
        kind, text = _jinja.reference(template, _jinja_fuzz.CONTEXT)
        # Short ones that give something; objects print their addresses.
        if kind == "text" and len(template) < 400 and " at 0x" not in text:
            groups["random"].append(template)
    cases = []
    for group, templates in groups.items():
        for template in templates:
            # Python does not come to an end here.
            kind, text = ("other", "") if template == "{{ 10 ** 1000000000 }}" else _jinja.reference(template, _jinja_fuzz.CONTEXT)
            case = {"group": group, "template": template, kind: text}
            if kind == "other":
                case[kind] = True
            cases.append(case)
    result = {"now": int(_jinja.NOW.replace(tzinfo=_jinja.datetime.timezone.utc).timestamp())}
    result |= {"context": _jinja_fuzz.CONTEXT, "cases": cases}
    lines = json.dumps(result, ensure_ascii=False).replace('{"group"', '\n{"group"')
    (HERE / "cases.json").write_text(lines + "\n")
    print(f"{len(cases)} cases")


main()
