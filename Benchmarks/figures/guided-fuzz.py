"""Random schemas of the supported keywords against random values, valid and changed, as Python's jsonschema judges them: disagreements, bar 0.

Every keyword that is enforced and can be judged without an opinion is drawn, also inside one another. A schema that our side
refuses is counted and not judged; one pair in two at least has to be judged. What the two are known to see differently is not
drawn, and this is all of it: patterns in which Python's `re` departs from ECMAScript (`\\d`, `\\w`, `\\s`, `$` before a last
newline), multiples and bounds that floating point cannot hold, and numbers of more digits than we generate.
"""

import json
import pathlib
import random
import tempfile
import time

import _frame as frame

frame.need("jsonschema")

import jsonschema  # noqa: E402

NAMES = ["a", "b", "ab", "x-1", "\u00e9", "e\u0301", "", "long name", "a/b", "~c"]
TEXTS = ["", "a", "b", "ab", "abc", "a1", "0", "42", "x y", "\u00e9", "e\u0301", "\u65e5\u672c", "\U0001f600", 'q"\\', "line\nline", "\u0000\t", "aaaa"]
PATTERNS = ["^a", "b$", "^[a-z]*$", "^[0-9]+$", "a|b", "^.{2,3}$", "^(ab?)+$", "[^a-c]", "^\u00e9$", "^$", "a{2,}", "^(?:x|y|[0-9]{2})"]
NUMBERS = [0, 1, -1, 2, 3, 5, 7, 10, 12, 100, -7, 0.5, -0.25, 1.5, 2.75, 10.0, 1e3, 99999, 123456789]
TYPES = ["null", "boolean", "integer", "number", "string", "array", "object"]
DEPTH = 3


class Source:
    """Schemas and values at random."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.definitions = []

    def one(self, values):
        return self.random.choice(values)

    def chance(self, share):
        return self.random.random() < share

    def some(self, values, most):
        return self.random.sample(values, self.random.randint(1, min(most, len(values))))

    # Values.

    def value(self, depth=0):
        kinds = TYPES if depth < DEPTH else TYPES[:5]
        match self.one(kinds):
            case "null": return None
            case "boolean": return self.chance(0.5)
            case "integer": return self.one([n for n in NUMBERS if n == int(n)])
            case "number": return self.one(NUMBERS)
            case "string": return self.one(TEXTS)
            case "array": return [self.value(depth + 1) for _ in range(self.random.randint(0, 3))]
            case _: return {name: self.value(depth + 1) for name in self.some(NAMES, 3)} if self.chance(0.9) else {}

    # Schemas.

    def document(self):
        self.definitions = [f"d{index}" for index in range(self.random.randint(0, 2))]
        schema = self.schema()
        if isinstance(schema, dict) and self.definitions:
            schema = {**schema, "$defs": {name: self.schema(1) for name in self.definitions}}
        return schema

    def schema(self, depth=0):
        if depth >= DEPTH or self.chance(0.25):
            return self.leaf()
        if self.definitions and self.chance(0.12):
            return {"$ref": f"#/$defs/{self.one(self.definitions)}"}
        schema = {}
        for _ in range(self.one([1, 1, 1, 2, 2, 3])):
            schema.update(self.one([self.scalars, self.array, self.object, self.combination])(depth + 1))
        if self.chance(0.5):
            schema["type"] = self.one(TYPES) if self.chance(0.7) else self.some(TYPES, 3)
        return schema

    def leaf(self):
        match self.random.randint(0, 9):
            case 0: return True
            case 1: return False if self.chance(0.3) else {}
            case 2: return {"const": self.value(2)}
            case 3: return {"enum": [self.value(2) for _ in range(self.random.randint(1, 4))]}
            case 4: return {"type": self.some(TYPES, 3)}
            case _:
                schema = self.scalars(DEPTH)
                if self.chance(0.8):
                    schema["type"] = self.one(["integer", "number", "string", "string"])
                return schema

    def scalars(self, _):
        schema = {}
        if self.chance(0.5):
            for keyword in self.some(["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"], 2):
                schema[keyword] = self.one(NUMBERS)
            if self.chance(0.3):
                schema["multipleOf"] = self.one([1, 2, 3, 5, 0.5, 0.25, 10])
        else:
            if self.chance(0.5):
                schema["minLength"] = self.random.randint(0, 3)
            if self.chance(0.5):
                schema["maxLength"] = self.random.randint(0, 5)
            if self.chance(0.5):
                schema["pattern"] = self.one(PATTERNS)
        return schema

    def array(self, depth):
        schema = {}
        if self.chance(0.6):
            schema["items"] = self.schema(depth)
        if self.chance(0.3):
            schema["prefixItems"] = [self.schema(depth) for _ in range(self.random.randint(1, 2))]
        if self.chance(0.3):
            schema["minItems"] = self.random.randint(0, 3)
        if self.chance(0.4):
            schema["maxItems"] = self.random.randint(0, 4)
        if self.chance(0.2):
            schema["contains"] = self.schema(depth)
            if self.chance(0.5):
                schema["minContains"] = self.random.randint(0, 2)
            if self.chance(0.5):
                schema["maxContains"] = self.random.randint(1, 3)
        if self.chance(0.1):
            schema["uniqueItems"] = True
            schema.setdefault("items", {"enum": [self.value(DEPTH) for _ in range(3)]})
        return schema

    def object(self, depth):
        schema = {}
        if self.chance(0.8):
            schema["properties"] = {name: self.schema(depth) for name in self.some(NAMES, 4)}
        if self.chance(0.5):
            schema["required"] = self.some(NAMES, 2)
        if self.chance(0.4):
            schema["additionalProperties"] = False if self.chance(0.5) else self.schema(depth)
        if self.chance(0.2):
            schema["patternProperties"] = {self.one(PATTERNS): self.schema(depth) for _ in range(2)}
        if self.chance(0.15):
            schema["propertyNames"] = {"pattern": self.one(PATTERNS)} if self.chance(0.5) else {"enum": self.some(NAMES, 4)}
        if self.chance(0.15):
            schema["minProperties"] = self.random.randint(0, 3)
        if self.chance(0.2):
            schema["maxProperties"] = self.random.randint(0, 4)
        if self.chance(0.1):
            schema["dependentRequired"] = {self.one(NAMES): self.some(NAMES, 2)}
        if self.chance(0.08):
            schema["dependentSchemas"] = {self.one(NAMES): self.schema(depth)}
        return schema

    def combination(self, depth):
        match self.random.randint(0, 4):
            case 0: return {"allOf": [self.schema(depth) for _ in range(2)]}
            case 1: return {"anyOf": [self.schema(depth) for _ in range(self.random.randint(1, 3))]}
            case 2: return {"oneOf": [self.schema(depth) for _ in range(self.random.randint(1, 3))]}
            case 3: return {"not": self.schema(depth)}
            case _:
                parts = {"if": self.schema(depth)}
                for keyword in self.some(["then", "else"], 2):
                    parts[keyword] = self.schema(depth)
                return parts

    # Values that a schema is likely to allow.

    def likely(self, schema, root, depth=0):
        if isinstance(schema, bool) or depth > 6:
            return self.value(2)
        if "$ref" in schema:
            return self.likely(root["$defs"][schema["$ref"].rsplit("/", 1)[1]], root, depth + 1)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return self.one(schema["enum"])
        for keyword in ("allOf", "anyOf", "oneOf"):
            if keyword in schema and self.chance(0.5):
                return self.likely(self.one(schema[keyword]), root, depth + 1)
        kinds = schema.get("type") or (
            ["object"] if {"properties", "required", "additionalProperties"} & set(schema)
            else ["array"] if {"items", "prefixItems", "contains"} & set(schema)
            else ["string"] if {"pattern", "minLength", "maxLength"} & set(schema) else TYPES
        )
        match kinds if isinstance(kinds, str) else self.one(kinds):
            case "null": return None
            case "boolean": return self.chance(0.5)
            case "integer": return self.random.randint(-3, 12)
            case "number": return self.random.randint(-12, 48) / 4
            case "string": return self.one(TEXTS)
            case "array":
                count = self.random.randint(schema.get("minItems", 0), max(schema.get("minItems", 0), schema.get("maxItems", 3)))
                prefix = schema.get("prefixItems", [])
                return [
                    self.likely(prefix[i] if i < len(prefix) else schema.get("items", True), root, depth + 1) for i in range(count)
                ]
            case _:
                properties = schema.get("properties", {})
                names = list(schema.get("required", [])) + [name for name in properties if self.chance(0.6)]
                if self.chance(0.2):
                    names.append(self.one(NAMES))
                other = schema.get("additionalProperties", True)
                return {name: self.likely(properties.get(name, other), root, depth + 1) for name in names}

    def changed(self, value, depth=0):
        """The value with one thing other than it was."""
        if isinstance(value, list) and value and self.chance(0.7):
            copy = list(value)
            place = self.random.randrange(len(copy))
            match self.random.randint(0, 2):
                case 0: del copy[place]
                case 1: copy.insert(place, self.value(2))
                case _: copy[place] = self.changed(copy[place], depth + 1)
            return copy
        if isinstance(value, dict) and value and self.chance(0.8):
            copy = dict(value)
            name = self.one(list(copy))
            match self.random.randint(0, 2):
                case 0: del copy[name]
                case 1: copy[self.one(NAMES)] = self.value(2)
                case _: copy[name] = self.changed(copy[name], depth + 1)
            return copy
        if isinstance(value, str) and value and self.chance(0.5):
            return value[1:] if self.chance(0.5) else value + self.one("ab1\u00e9")
        if type(value) in (int, float) and self.chance(0.5):
            return value + self.one([-1, 1, 0.5])
        return self.value(depth)


def group(source, number, values):
    """A schema with values and what jsonschema says of each; None when it says nothing of one."""
    schema = source.document()
    validator = jsonschema.Draft202012Validator(schema)
    tests, seen = [], set()
    for index in range(values):
        value = source.likely(schema, schema) if index % 3 else source.value()
        if index % 3 == 2:
            value = source.changed(value)
        text = json.dumps(value, sort_keys=True)
        if text in seen:
            continue
        seen.add(text)
        try:
            tests.append({"data": value, "valid": validator.is_valid(value)})
        except RecursionError:
            # The schema leads back to itself without any content, which is an error here and no verdict there.
            return None
    return {"description": str(number), "schema": schema, "tests": tests}


def main():
    def extra(parser):
        parser.add_argument("--seed", type=int, help="the seed of a run to be had again (default: another each time)")
        parser.add_argument("--pairs", type=int, default=12_000, help="pairs to judge (default: %(default)s)")
        parser.add_argument("--seconds", type=float, default=300, help="stop after so many (default: %(default)s)")
        parser.add_argument("--values", type=int, default=12, help="values for each schema (default: %(default)s)")

    options = frame.arguments(__doc__, extra=extra)
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}", flush=True)
    source = Source(seed)
    end = time.monotonic() + options.seconds
    number = judged = drawn = refused = valid = wrong = 0
    while judged < options.pairs and time.monotonic() < end:
        groups = {}
        while len(groups) < 100:
            number += 1
            if made := group(source, number, options.values):
                groups[str(number)] = made
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "groups.json"
            file.write_text(json.dumps({"fuzz": list(groups.values())}), encoding="utf-8")
            # A schema that takes for ever would show here.
            output = frame.measure("json-schema-suite", file, timeout=120)
        outcomes = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
        if len(outcomes) != len(groups):
            raise frame.Unmeasured(f"{len(outcomes)} outcomes for {len(groups)} schemas (seed {seed})")
        for outcome in outcomes:
            made = groups[outcome["name"].split(": ", 1)[1]]
            drawn += len(made["tests"])
            if outcome["outcome"].startswith("refused"):
                allowed = [test["data"] for test in made["tests"] if test["valid"]]
                if "no value" in outcome["detail"] and allowed:
                    wrong += 1
                    print(f"wrongly unsatisfiable: {json.dumps(allowed[0])} under {json.dumps(made['schema'])}")
                refused += 1
                continue
            judged += len(made["tests"])
            valid += sum(test["valid"] for test in made["tests"])
            if outcome["outcome"] != "clean":
                wrong += 1
                print(f"{outcome['outcome']}: {outcome['detail']} under {json.dumps(made['schema'])}", flush=True)
    print(f"{number} schemas, {refused} refused; {judged} of {drawn} pairs judged, {valid} of them valid; seed {seed}")
    if judged < 5_000 or judged * 2 < drawn:
        raise frame.Unmeasured("too few pairs were judged")
    frame.verdict("guided-fuzz", wrong, at_most=0)


if __name__ == "__main__":
    main()
