"""Holds a symbol graph against an inventory of declarations, for the figure `api-coverage`.

An inventory is a table (tab-separated) of one row per declaration: its path with argument labels, its kind, the version that
brought it, the types of its parameters. A row is *present* when a symbol has the same path, a fitting kind and the same
parameter types; *respelled* when only the spelling of the types differs (overloads are matched one to one, so that two
symbols never cover three rows); *implied* when a conformance brings it; *missing* otherwise.
"""

import collections
import csv
import dataclasses
import json
import pathlib
import re
import subprocess

KINDS = {
    "struct": {"swift.struct"},
    "class": {"swift.class"},
    "enum": {"swift.enum"},
    "protocol": {"swift.protocol"},
    "actor": {"swift.actor", "swift.class"},
    "case": {"swift.enum.case"},
    "init": {"swift.init"},
    "func": {"swift.method", "swift.type.method", "swift.func", "swift.func.op"},
    "var": {"swift.property", "swift.type.property", "swift.var"},
    "subscript": {"swift.subscript", "swift.type.subscript"},
    "macro": {"swift.macro"},
    "typealias": {"swift.typealias", "swift.associatedtype", "swift.struct", "swift.enum", "swift.class"},
    "associatedtype": {"swift.associatedtype"},
}
# Types of the standard library, as symbol graphs identify them.
STANDARD = {
    "s:Sq": "Optional",
    "s:Sa": "Array",
    "s:SS": "String",
    "s:Si": "Int",
    "s:Sb": "Bool",
    "s:Sd": "Double",
    "s:Sf": "Float",
    "s:s5NeverO": "Never",
    "s:SD": "Dictionary",
    "s:Sh": "Set",
}
MODULES = r"Swift|Foundation|FoundationEssentials|_StringProcessing|_Concurrency|FoundationModels|Observation"
ATTRIBUTES = (
    r"@escaping |@Sendable |\bsending |\bconsuming |\bborrowing |\b__owned |@autoclosure |@isolated\(any\) "
    r"|@_inheritActorContext |nonisolated\(nonsending\) |@\w*Builder(?:<[^>]*>)? "
)


def canonical(type_text):
    """A type without what does not tell it from another: module names, attributes, the order of compositions."""
    text = re.sub(rf"\b({MODULES})\.(?=[A-Z])", "", type_text)
    text = re.sub(ATTRIBUTES, "", text)
    text = re.sub(r"\bisolated (?=\(?any)", "", text)
    text = re.sub(r"\s*->\s*", " -> ", text)
    text = re.sub(r"\s*:\s*", ": ", text)
    text = text.replace("Decodable & Encodable", "Codable")
    text = re.sub(
        r"\b[\w.]+(?: & [\w.]+)+", lambda m: " & ".join(sorted(part.strip() for part in m.group(0).split("&"))), text
    )
    return re.sub(r"\s+", " ", text).strip()


def unqualified(type_text):
    """The last component of every dotted name: `A.B.C?` becomes `C?`."""
    return re.sub(r"\b(?:[A-Za-z_]\w*\.)+(?=[A-Z])", "", type_text)


def split_top(text, separator):
    """Splits at a separator that stands outside of all brackets."""
    parts, depth, current, previous = [], 0, "", ""
    for character in text:
        if character in "([{<":
            depth += 1
        elif character in ")]}" or (character == ">" and previous != "-"):
            depth -= 1
        if character == separator and depth == 0:
            parts.append(current)
            current = ""
        else:
            current += character
        previous = character
    return [*parts, current] if current.strip() else parts


def spelled(fragments):
    return "".join(fragment["spelling"] for fragment in fragments)


def parameter_types(symbol):
    """The types of a function's parameters or of a case's values; None for what has no parameters."""
    if symbol["kind"]["identifier"] == "swift.enum.case":
        values = re.search(r"\((.*)\)$", spelled(symbol.get("declarationFragments", [])))
        parts = split_top(values.group(1), ",") if values else []
        return [canonical(re.sub(r"^\s*\w+( \w+)?: ", "", part)) for part in parts]
    if "functionSignature" not in symbol:
        return None
    types = []
    for parameter in symbol["functionSignature"].get("parameters", []):
        text = spelled(parameter.get("declarationFragments", []))
        text = text.split(":", 1)[1] if ":" in text else text
        # What follows is the default value; `==` belongs to a type.
        text = re.split(r"(?<!=)=(?!=)", text)[0] if "=" in text else text
        types.append(canonical(text))
    return types


class Graph:
    """The symbols of a module and what they conform to."""

    def __init__(self, folder, module):
        self.symbols = collections.defaultdict(list)
        self.conformances = collections.defaultdict(set)
        names, relationships = {}, []
        for path in sorted(pathlib.Path(folder).rglob("*.symbols.json")):
            if path.name.removesuffix(".symbols.json").split("@")[0] != module:
                continue
            document = json.loads(path.read_text())
            for symbol in document["symbols"]:
                name = ".".join(symbol["pathComponents"])
                self.symbols[name].append(symbol)
                names[symbol["identifier"]["precise"]] = name
            relationships += document["relationships"]
        for relationship in relationships:
            fallback = relationship.get("targetFallback")
            if relationship["kind"] == "memberOf" and relationship["target"] not in names and fallback:
                names[relationship["target"]] = fallback.split(".", 1)[-1]
        for relationship in relationships:
            if relationship["kind"] != "conformsTo":
                continue
            source, target = relationship["source"], relationship["target"]
            if source not in names:
                names[source] = STANDARD.get(source) or demangled(source)
            protocol = names.get(target) or relationship.get("targetFallback", target)
            protocol = re.sub(r"^(Swift|Foundation\w*|_Concurrency|Observation|_StringProcessing)\.", "", protocol)
            self.conformances[names[source]].add(protocol)
        self._close()

    def _close(self):
        """Adds to each type what its protocols refine."""
        changed = True
        while changed:
            changed = False
            for known in list(self.conformances.values()):
                inherited = set().union(*(self.conformances.get(name, set()) for name in known))
                if not inherited <= known:
                    known |= inherited
                    changed = True

    def conforms(self, type_name, protocol):
        known = self.conformances.get(type_name, set())
        short = {name.split(".")[-1] for name in known}
        if protocol == "Codable":
            return {"Decodable", "Encodable"} <= short or "Codable" in short
        if protocol in ("Decodable", "Encodable") and "Codable" in short:
            return True
        protocol = protocol.split("(")[0]
        return protocol in known or protocol.split(".")[-1] in short


def demangled(identifier):
    text = subprocess.run(
        ["swift-demangle", "-compact", "$s" + identifier[2:]], capture_output=True, text=True
    ).stdout.strip()
    return text.split(".", 1)[-1] if "." in text else text


@dataclasses.dataclass
class Row:
    path: str
    kind: str
    parameters: list
    introduced: str
    is_apple_only: bool
    # Declared as unavailable, which symbol graphs leave out.
    is_unavailable: bool
    where: str
    state: str = "missing"

    def __str__(self):
        parameters = f"  ({'; '.join(self.parameters)})" if self.parameters else ""
        return (
            f"{self.kind} {self.path}{parameters}{f'  where {self.where}' if self.where else ''}  [{self.introduced}]"
        )


def read(path):
    with open(path, newline="") as file:
        return [
            Row(
                path=row["path"],
                kind=row["kind"],
                parameters=[canonical(part) for part in row["params"].split("; ")] if row["params"] else [],
                introduced=row["introduced"],
                is_apple_only=row["apple_only"] == "yes",
                is_unavailable=row["status"].startswith("unavailable"),
                where=row["where"],
            )
            for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        ]


def compare(rows, graph):
    """Sets the state of every row."""
    overloads = collections.defaultdict(list)
    for row in rows:
        if row.kind in ("conformance", "refinement"):
            type_name, protocol = row.path.split(": ", 1)
            row.state = "present" if graph.conforms(type_name, protocol) else "missing"
        else:
            overloads[row.path, row.kind].append(row)
    for (path, kind), group in overloads.items():
        free = [symbol for symbol in graph.symbols.get(path, []) if symbol["kind"]["identifier"] in KINDS[kind]]
        unmatched = []
        for row in group:
            match = next((symbol for symbol in free if fits(row, symbol, alone=len(group) == 1)), None)
            if match is None:
                unmatched.append(row)
            else:
                free.remove(match)
                row.state = "present"
        for row in unmatched:
            if free:
                free.pop(0)
                row.state = "respelled"
            elif is_implied(row, graph, alone=len(group) == 1):
                row.state = "implied"


def fits(row, symbol, alone):
    types = parameter_types(symbol)
    if types is None or types == row.parameters or (alone and not row.parameters):
        return True
    return [unqualified(text) for text in types] == [unqualified(text) for text in row.parameters]


def is_implied(row, graph, alone):
    base, bracket, labels = row.path.partition("(")
    owner, _, name = base.rpartition(".")
    name += bracket + labels
    if name == "init(from:)" and graph.conforms(owner, "Decodable"):
        return True
    if name == "encode(to:)" and graph.conforms(owner, "Encodable"):
        return True
    return alone and any(graph.symbols.get(f"{protocol}.{name}") for protocol in graph.conformances.get(owner, ()))
