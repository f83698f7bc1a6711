"""Schemas that are wrong, contradictory or made to do harm: each an answer or an error that names what is wrong, within 1 s and 200 MB: share, bar 1.

Each is read, compiled and walked by its values in a process of its own. Time is that of the processor, memory what the process held
at most; what a process takes for a schema without content is taken off both.
"""

import json
import os
import pathlib
import subprocess
import tempfile

import _frame as frame

SECONDS = 1.0
MEGABYTES = 200


def nested(depth, wrap):
    """A schema inside schemas, as text: Python's own writer does not go so deep."""
    before, after = wrap
    return before * depth + "{}" + after * depth


def doubled(levels, make):
    """Definitions of which each refers to the one before twice."""
    definitions = {"d0": {"type": "string", "maxLength": 3}}
    for level in range(1, levels + 1):
        definitions[f"d{level}"] = make({"$ref": f"#/$defs/d{level - 1}"})
    return {"$defs": definitions, "$ref": f"#/$defs/d{levels}"}


def chain(length):
    definitions = {f"d{level}": {"$ref": f"#/$defs/d{level - 1}"} for level in range(1, length)}
    return {"$defs": {"d0": {"type": "null"}, **definitions}, "$ref": f"#/$defs/d{length - 1}"}


def negated(levels):
    schema = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"minimum": 3}}}
    for _ in range(levels):
        schema = {"not": schema}
    return schema


# What must be refused, and the word that its error has to have.
REFUSED = {
    "a range without a number": ({"type": "integer", "minimum": 3, "maximum": 2}, "no value"),
    "a length without a text": ({"type": "string", "minLength": 3, "maxLength": 2}, "no value"),
    "a pattern too long for its length": ({"type": "string", "pattern": "^a{5}$", "maxLength": 4}, "no value"),
    "two types at once": ({"allOf": [{"type": "string"}, {"type": "integer"}]}, "no value"),
    "a constant outside its bounds": ({"const": 7, "maximum": 5}, "no value"),
    "more elements than there may be": ({"type": "array", "minItems": 4, "maxItems": 3}, "no value"),
    "a required property that may not be": ({"type": "object", "required": ["a"], "properties": {"a": False}}, "no value"),
    "a required name that is none": ({"type": "object", "required": ["a"], "propertyNames": {"enum": ["b"]}}, "no value"),
    "nothing at all": (False, "no value"),
    "a type without an end": ({"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]}, "no value"),
    "no choices": ({"enum": []}, "enum"),
    "no alternatives": ({"anyOf": []}, "anyOf"),
    "a reference to itself": ({"$ref": "#"}, "$ref"),
    "a reference to nowhere": ({"$ref": "#/$defs/none"}, "$ref"),
    "a pattern that looks back": ({"type": "string", "pattern": "(?<=a)b"}, "pattern"),
    "a pattern that counts to a million": ({"type": "string", "pattern": "^(?:ab){1000000}$"}, "pattern"),
    "a pattern of exponential size": ({"type": "string", "pattern": "^.*a.{40}b.*a.{40}$"}, "pattern"),
    "a count of a number": ({"type": "string", "minLength": "many"}, "minLength"),
    "nesting of 600": (nested(600, ('{"not":', "}")), "nested"),
    "nesting of 10,000": (nested(10_000, ('{"not":', "}")), "nested"),
    "lists nested 10,000 deep": ('{"enum":[' + "[" * 10_000 + "]" * 10_000 + "]}", "nested"),
}

# What must end: refused, or compiled and right about a value.
ENDING = {
    "huge counts": {
        "type": "array", "minItems": 10**9, "maxItems": 10**9 + 1, "items": {"type": "string", "minLength": 10**9},
    },
    "counts beyond every integer": {"type": "string", "minLength": 10**30, "maxLength": 10**40},
    "bounds of a thousand digits": {"type": "number", "minimum": int("7" * 1000), "maximum": int("8" * 1000)},
    "an exponent of a million": '{"type": "number", "minimum": 1e1000000, "maximum": 1e1000001}',
    "a large prime": {"type": "integer", "multipleOf": 999_999_937},
    "many multiples": {"allOf": [{"type": "integer", "multipleOf": n} for n in (97, 101, 103, 107, 109)]},
    "anyOf inside allOf": {
        "allOf": [
            {"anyOf": [{"properties": {f"k{i}": {"const": c}}, "required": [f"k{i}"]} for c in range(3)]} for i in range(24)
        ]
    },
    "anyOf that doubles": doubled(60, lambda below: {"anyOf": [below, below]}),
    "allOf that doubles": doubled(60, lambda below: {"allOf": [below, {"minLength": 1}, below]}),
    "objects that double": doubled(60, lambda below: {"type": "object", "properties": {"a": below, "b": below}}),
    "oneOf that doubles": doubled(20, lambda below: {"oneOf": [below, {"type": "object", "properties": {"a": below}}]}),
    "oneOf of 60": {"oneOf": [{"properties": {f"p{i}": {"type": "string"}}} for i in range(60)]},
    "negations": negated(40),
    "a chain of 10,000 references": chain(10_000),
    "dependencies of 40 properties": {"dependentRequired": {f"a{i}": [f"b{i}"] for i in range(40)}},
    "schemas that depend on 30": {
        "dependentSchemas": {f"a{i}": {"required": [f"b{i}"], "properties": {"c": {"minimum": 1}}} for i in range(30)}
    },
    "ten thousand choices": {"enum": [f"choice number {i}" for i in range(10_000)]},
    "a hundred thousand choices": {"enum": [f"{i * 2654435761}" for i in range(100_000)]},
    "ten thousand properties": {
        "type": "object", "additionalProperties": False, "properties": {f"property{i}": {"type": "integer"} for i in range(10_000)},
    },
    "patterns that overlap": {"type": "object", "patternProperties": {f"x{i}y.*z{i}": {"minimum": i} for i in range(24)}},
    "patterns that meet": {"type": "string", "allOf": [{"pattern": f"a.{{{i}}}b"} for i in range(16)]},
    "alternatives of patterns": {"type": "string", "pattern": "^(?:" + "|".join(f"a*{i}b*" for i in range(500)) + ")*$"},
    "unique elements": {"type": "array", "uniqueItems": True, "minItems": 20, "items": {"enum": list(range(24))}},
    "contains of a thousand": {"type": "array", "minItems": 1000, "contains": {"const": 1}, "minContains": 1000},
}


def run(schema, values):
    """The outcome of one schema in a process of its own: (text, seconds, MB)."""
    schema = schema if isinstance(schema, str) else json.dumps(schema)
    tests = json.dumps([{"data": value, "valid": False} for value in values])
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
        file.write('{"limits": [{"description": "", "schema": %s, "tests": %s}]}' % (schema, tests))
        file.flush()
        process = subprocess.Popen(
            [frame.build("measure"), "json-schema-suite", file.name], stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        text = process.stdout.read().decode(errors="replace")
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode < 0:
        text = f"ended by signal {-process.returncode}"
    return text.strip(), usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    frame.arguments(__doc__)
    _, seconds, memory = run({}, [])
    print(f"a schema without content: {seconds:.3f} s, {memory:.0f} MB")
    good = 0
    cases = [(name, schema, word) for name, (schema, word) in REFUSED.items()]
    cases += [(name, schema, None) for name, schema in ENDING.items()]
    for name, schema, word in cases:
        # No schema that ends allows these.
        text, took, held = run(schema, [[[0]], "~"] if word is None else [])
        took, held = max(0, took - seconds), max(0, held - memory)
        if word is not None:
            is_right = "ended by signal" not in text and word in text and '"clean"' not in text
        else:
            is_right = '"outcome":"clean"' in text.replace(": ", ":") or '"outcome":"refused' in text.replace(": ", ":")
        is_good = is_right and took <= SECONDS and held <= MEGABYTES
        good += is_good
        print(f"{'good' if is_good else 'BAD '} {name}: {took:.2f} s, {held:.0f} MB: {text[:160]}", flush=True)
    frame.verdict("guided-limits", good / len(cases), at_least=1.0)


if __name__ == "__main__":
    main()
