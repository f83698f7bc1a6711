"""Random small templates, rendered by our module and by jinja2: prints where they differ.

    python _jinja_fuzz.py [--program PATH] [--count N] [--seed N]
"""

import argparse
import random

import _jinja

CONTEXT = {
    "s": "Hello, Wörld", "t": "  a b\tc \n", "e": "", "n": 7, "z": 0, "m": -3, "f": 2.5, "g": 1e16, "h": -0.1, "b": True,
    "o": None, "l": [3, 1, 2], "k": ["b", "A", "c", ""], "d": {"a": 1, "b": [1, 2], "items": "x", "c": {"d": None}},
    "x": [{"n": "q", "v": 2, "w": {"y": 1}}, {"n": "P", "v": 1}, {"n": "q", "v": 3.5, "w": {"y": 0}}],
    "big": 123456789012345678901234567890, "u": "é\u00a0ß\u2028日本 '\"\\\n\x07", "y": [[1, "a"], [2, "b"]],
}
NAMES = [*CONTEXT, "missing"]
TEXTS = ["'a'", "'b,c'", "''", "' '", "'%s'", "'%d-%5.2f'", "'{} {:>5}'", "'l'", "'\\n'", "'aXbXc'", "'n'", "'12'", "'3.7'", "'é'"]
FILTERS = [
    "abs", "capitalize", "count", "length", "first", "last", "float", "int", "items|list", "join", "join(', ')", "list",
    "lower", "upper", "max", "min", "reverse|list", "reverse|join", "round", "round(1)", "round(2, 'floor')",
    "round(1, 'ceil')", "round(-1)", "sort", "sort(reverse=true)", "sort(case_sensitive=true)", "string", "sum", "title",
    "tojson", "tojson(indent=2)", "tojson(sort_keys=true)", "tojson(ensure_ascii=true)", "tojson(separators=(',', ':'))",
    "trim", "unique|list", "urlencode", "wordcount", "default('D')", "default('D', true)", "d", "batch(2)|list",
    "batch(2, 0)|list", "slice(2)|list", "slice(2, 'f')|list", "dictsort", "dictsort(by='value')",
    "dictsort(false, 'key', true)", "groupby('n')", "groupby('v')|map(attribute='list')|list", "map(attribute='n')|list",
    "map(attribute='w.y')|list", "map(attribute='w', default='Z')|list", "map('upper')|list", "select|list", "select('odd')|list",
    "reject('none')|list", "selectattr('v', 'gt', 1)|list", "rejectattr('w')|list", "selectattr('w', 'defined')|map(attribute='n')|join",
    "replace('a', 'Z')", "replace('', '-')", "replace('l', 'LL', 1)", "indent", "indent(2, true)", "indent(1, blank=true)",
    "truncate(5)", "truncate(6, true, '..')", "truncate(4, false, '', 0)", "escape", "e|length", "safe", "striptags", "center(9)",
    "format(1, 2)", "format", "attr('a')", "int(5)", "int(0, 16)", "float(1.5)", "xmlattr", "filesizeformat", "max(attribute='v')",
    "sum(attribute='v')", "sort(attribute='n,v')|map(attribute='v')|list", "join('-', 'n')", "string|list|first", "nosuch",
]
TESTS = [
    "boolean", "callable", "defined", "divisibleby 3", "divisibleby(2)", "eq 7", "ne 'a'", "gt 1", "ge 7", "lt 3", "le 0", "even",
    "odd", "false", "true", "filter", "float", "in [1, 7, 'a']", "integer", "iterable", "lower", "upper", "mapping", "none",
    "number", "sameas none", "sequence", "string", "test", "undefined", "not none", "not defined", "escaped", "nosuch",
]
METHODS = [
    "upper()", "lower()", "title()", "capitalize()", "swapcase()", "strip()", "lstrip('H')", "rstrip()", "split()", "split(',')",
    "split('l', 1)", "rsplit('l', 1)", "rsplit(none, 1)", "splitlines()", "splitlines(true)", "startswith('H')", "endswith('d')",
    "startswith(('x', 'a'))", "replace('l', 'L')", "replace('l', 'L', 1)", "find('l')", "rfind('l')", "index('l')", "count('l')",
    "join(['a', 'b'])", "join(k)", "format(1, 'x')", "format(*l)", "zfill(15)", "ljust(15)~'|'", "rjust(15, '*')", "center(15, '.')",
    "isdigit()", "isalpha()", "isalnum()", "isspace()", "isupper()", "islower()", "istitle()", "isnumeric()", "isidentifier()",
    "partition(',')", "rpartition('l')", "removeprefix('He')", "removesuffix('d')", "expandtabs(4)", "casefold()",
    "keys()", "values()", "items()", "items()|list", "get('a')", "get('zz')", "get('zz', 3)", "keys()|list", "copy()", "index(2)",
    "count(1)", "append(1)", "pop()", "update({})", "nosuch()", "a", "b", "items", "c.d", "n", "v", "append", "__class__", "startswith",
    "find('l', 4)", "count('l', 3, 9)", "startswith('e', 1)",
]
BINARY = ["+", "-", "*", "/", "//", "%", "~", "==", "!=", "<", ">", "<=", ">=", "in", "not in", "and", "or"]
FORMATS = ["%s", "%d", "%5d|", "%-5d|", "%05.1f", "%x", "%X", "%o", "%r", "%e", "%g", "%+d", "% d", "%%", "%c", "%.2s", "%5s", "%i", "%#x", "%(a)s"]
SPECIFICATIONS = ["{}", "{:5}|", "{:<7}|", "{:^7}|", "{:>7}", "{:05}", "{:+}", "{:,}", "{:.2f}", "{:e}", "{:g}", "{:x}", "{:#b}", "{!r}", "{!s:>9}", "{:%}", "{0}{0}", "{:_^12}", "{:.3}", "{:08.3f}", "{:_}", "{a}", "{0[a]}", "{0.n}"]


class Fuzz:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.pick = self.random.choice

    def atom(self):
        r = self.random.random()
        if r < 0.55:
            return self.pick(NAMES)
        if r < 0.7:
            return self.pick(TEXTS)
        if r < 0.85:
            return self.pick(["0", "1", "2", "-1", "10", "1.5", "0.1", "1e3", "100000000000000000000", "1_000", "0x1F", "true", "none", "False", "2.0", "3"])
        if r < 0.92:
            return self.pick(["[]", "{}", "()", "[1, 'a', none]", "(1,)", "{'a': 1.0, 2: 'b'}", "range(3)", "range(5, 0, -2)", "[[1], {}]"])
        return self.pick(["dict(a=1)", "namespace(a=2).a", "[1,2,3][::-1]", "(1, 2)", "'a' 'b'", "d.items()", "x[0]", "joiner('-')()", "cycler(1, 2).next()"])

    def expression(self, depth):
        if depth <= 0:
            return self.atom()
        r = self.random.random()
        sub = lambda: self.expression(depth - 1)
        if r < 0.19:
            return f"{sub()} {self.pick(BINARY)} {sub()}"
        if r < 0.2:
            # Python computes a power of any size, however long it takes.
            return f"{self.pick(['n', 'm', 'f', 's', 'big', '2', '1.5', 'b', 'o'])} ** {self.pick(['0', '2', '3', '-1', '0.5', 'l', 'm', 'f'])}"
        if r < 0.25:
            return f"({sub()})"
        if r < 0.42:
            return f"{self.maybe(sub())}|{self.pick(FILTERS)}"
        if r < 0.52:
            return f"{self.maybe(sub())} is {self.pick(TESTS)}"
        if r < 0.66:
            return f"{self.maybe(sub())}.{self.pick(METHODS)}"
        if r < 0.71:
            return f"{self.maybe(sub())}[{sub()}]"
        if r < 0.77:
            bound = lambda: self.pick(["", "", "0", "1", "2", "-1", "-2", "5", "100", "-100", "n"])
            return f"{self.maybe(sub())}[{bound()}:{bound()}{self.pick(['', ':', ':-1', ':2', ':-2'])}]"
        if r < 0.81:
            return f"{sub()} if {sub()} else {sub()}"
        if r < 0.83:
            return f"{sub()} if {sub()}"
        if r < 0.87:
            return f"not {sub()}"
        if r < 0.9:
            return f"-{sub()}"
        if r < 0.93:
            return f"[{sub()}, {sub()}]"
        if r < 0.95:
            return f"{{{sub()}: {sub()}}}"
        if r < 0.975:
            return f"'{self.pick(FORMATS)}' % {self.pick(['', ''])}({sub()}{self.pick([',', ''])})"
        return f"'{self.pick(SPECIFICATIONS)}'.format({sub()}{self.pick(['', ', a=1'])})"

    def maybe(self, text):
        return text if self.random.random() < 0.4 else f"({text})"

    def tag(self, text):
        return "{%" + self.pick(["", "", "", "-", "+"]) + f" {text} " + self.pick(["", "", "", "-", "+"]) + "%}"

    def space(self):
        return self.pick(["", "", " ", "\n", "\n  ", "  \n", "a", "a\n", "\n\n", " b ", "\t", "\r\n", "x\n  y", "\n \n "])

    def body(self, depth):
        return "".join(self.space() + self.statement(depth) + self.space() for _ in range(self.random.randint(1, 3)))

    def statement(self, depth):
        r = self.random.random()
        name = lambda: self.pick(["a", "p", "q", "n", "l", "s", "loop.index", "ns.a"])
        if depth <= 0 or r < 0.25:
            inner = self.pick(["a", "p", "q", "n", "i", "s", "missing", "l", "loop.index", "loop.last", "ns.a", "loop.previtem", "loop.length", "loop.revindex", "caller()", "loop.changed(i)", "loop.cycle('x', 'y')", "loop.nextitem", "loop.depth0", "varargs", "kwargs", "loop", "i.n", "ns"])
            if self.random.random() < 0.2:
                inner = self.expression(1)
            return "{{" + self.pick(["", "", "-"]) + f" {inner} " + self.pick(["", "", "-"]) + "}}"
        if r < 0.3:
            return "{#" + self.pick(["", "-", "+"]) + " c " + self.pick(["", "-", "+"]) + "#}"
        if r < 0.33:
            return self.tag("raw") + " {{ a }} {% x %}\n" + self.tag("endraw")
        if r < 0.46:
            target = self.pick(["a", "p", "q", "n", "l", "a, p", "ns.a", "s", "(a, q)"])
            value = self.pick([self.expression(1), "1, 2", "n", "a", "[1, 2]", "ns.a ~ 'x'", "p"])
            return self.tag(f"set {target} = {value}")
        if r < 0.5:
            return self.tag(f"set {self.pick(['a', 'p', 'q|upper'])}".replace("q|upper", "q | upper")) + self.body(depth - 1) + self.tag("endset")
        if r < 0.64:
            middle = ""
            if self.random.random() < 0.3:
                middle += self.tag(f"elif {self.expression(1)}") + self.body(depth - 1)
            if self.random.random() < 0.4:
                middle += self.tag("else") + self.body(depth - 1)
            return self.tag(f"if {self.expression(1)}") + self.body(depth - 1) + middle + self.tag("endif")
        if r < 0.82:
            source = self.pick(["l", "k", "x", "y", "d", "range(3)", "[]", "missing", "s[:3]", "d.items()", "l|sort", "x|map(attribute='v')", "n", "d|dictsort"])
            target = self.pick(["i", "i", "i", "a, i", "n", "l"])
            test = self.pick(["", "", "", " if i", " if i != 1", " if loop", " if n > 5", " if i is defined"])
            recursive = self.pick(["", "", "", "", " recursive"])
            control = ""
            if self.random.random() < 0.25:
                control = self.tag(f"if {self.pick(['i == 1', 'loop.first', 'loop.index == 2', 'true'])}") + self.tag(self.pick(["break", "continue"])) + self.tag("endif")
            body = self.body(depth - 1)
            if recursive and self.random.random() < 0.5:
                body += "{% if loop.depth < 3 and i is iterable and i is not string %}{{ loop(i) }}{% endif %}"
            otherwise = self.tag("else") + self.body(depth - 1) if self.random.random() < 0.3 else ""
            return self.tag(f"for {target} in {source}{test}{recursive}") + control + body + otherwise + self.tag("endfor")
        if r < 0.9:
            signature = self.pick(["", "a", "a, p=1", "p='x', q=p", "a, caller=none"])
            call = self.pick(["{{ mac() }}", "{{ mac(1) }}", "{{ mac(1, 2, 3) }}", "{{ mac(p=2) }}", "{{ mac(zz=2) }}", "{% call mac() %}C{{ a }}{% endcall %}", "{% call(p) mac(1) %}[{{ p }}]{% endcall %}", "{{ mac }}"])
            body = self.body(depth - 1)
            if self.random.random() < 0.4:
                body += self.pick(["{{ caller() }}", "{{ caller(5) }}", "{{ varargs }}", "{{ kwargs }}", "{{ caller }}"])
            return self.tag(f"macro mac({signature})") + body + self.tag("endmacro") + call
        if r < 0.94:
            pairs = self.pick(["a = 1", "a = n, p = a", "", "a, p = (1, 2)", "q = missing"])
            return self.tag(f"with {pairs}") + self.body(depth - 1) + self.tag("endwith")
        if r < 0.97:
            return self.tag(f"filter {self.pick(['upper', 'trim', 'indent(2)', 'replace(n, s)', 'length'])}") + self.body(depth - 1) + self.tag("endfilter")
        return self.pick(["generation", "block k%d" % self.random.randrange(10**6)]).join(["{% ", " %}"]) + self.body(depth - 1) + "{% end@ %}"

    def template(self):
        if self.random.random() < 0.55:
            return "{{ " + self.expression(self.random.randint(1, 3)) + " }}"
        text = self.pick(["", "{% set ns = namespace(a=0) %}", "{% set ns = namespace(a=0) %}"]) + self.body(3)
        # The closing tag takes the name of the opening one.
        while "{% end@ %}" in text:
            before, _, after = text.partition("{% end@ %}")
            opened = max(before.rfind("{% generation %}"), before.rfind("{% block k"))
            text = before + "{% end" + ("generation" if before[opened:].startswith("{% g") else "block") + " %}" + after
        return text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", help="a built `measure` to take instead of building it")
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=40)
    given = parser.parse_args()
    fuzz = Fuzz(given.seed)
    templates = [fuzz.template() for _ in range(given.count)]
    ours = _jinja.render([(template, CONTEXT) for template in templates], given.program)
    different = errors = skipped = 0
    for template, mine in zip(templates, ours):
        theirs = _jinja.reference(template, CONTEXT)
        # What prints its address prints another one each time.
        if theirs[0] == "text" and " at 0x" in theirs[1]:
            skipped += 1
            continue
        errors += theirs[0] != "text"
        if not _jinja.agree(mine, theirs):
            different += 1
            if different <= given.show:
                print(f"--- {template!r}\n  ours   {mine[0]} {mine[1][:200]!r}\n  theirs {theirs[0]} {theirs[1][:200]!r}")
    print(f"{len(templates)} templates, {errors} errors on their side, {skipped} skipped, {different} differences")


if __name__ == "__main__":
    main()
