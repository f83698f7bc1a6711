"""The rule by which function calls are judged, on calls whose verdicts are plain."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Benchmarks" / "figures"))
from _bfcl import calls_are_right, json_schema  # noqa: E402

FUNCTIONS = [
    {
        "name": "f",
        "parameters": {
            "type": "dict",
            "properties": {
                "a": {"type": "float"},
                "s": {"type": "string"},
                "l": {"type": "array", "items": {"type": "string"}},
                "d": {"type": "dict", "properties": {"x": {"type": "integer"}, "y": {"type": "string"}}},
                "b": {"type": "boolean"},
            },
            "required": ["a"],
        },
    }
]
EXPECTED = [
    {
        "f": {
            "a": [1.0], "s": ["New York", "NYC", ""], "l": [["x", "y"], ""], "d": [{"x": [1], "y": ["z", ""]}, ""],
            "b": [True, ""],
        }
    }
]


def test_single_calls():
    verdicts = [
        ({"a": 1.0}, True),
        ({"a": 1}, True),
        ({"a": 2.0}, False),
        ({"a": "1"}, False),
        ({"s": "NYC"}, False),
        ({"a": 1, "s": "new-york"}, True),
        ({"a": 1, "s": "York"}, False),
        ({"a": 1, "l": ["X", "y."]}, True),
        ({"a": 1, "l": ["y", "x"]}, False),
        ({"a": 1, "d": {"x": 1}}, True),
        ({"a": 1, "d": {"x": 1, "y": "Z"}}, True),
        ({"a": 1, "d": {"y": "z"}}, False),
        ({"a": 1, "d": {"x": 1, "q": 1}}, False),
        ({"a": 1, "b": True}, True),
        ({"a": 1, "b": False}, False),
        ({"a": 1, "b": 1}, False),
        ({"a": 1, "unknown": 1}, False),
        (None, False),
    ]
    for arguments, verdict in verdicts:
        assert calls_are_right([("f", arguments)], EXPECTED, FUNCTIONS) is verdict, arguments
    assert not calls_are_right([("g", {"a": 1})], EXPECTED, FUNCTIONS)


def test_sets_of_calls():
    two = EXPECTED + [{"f": {"a": [2.0], "s": [""]}}]
    one, other = ("f", {"a": 1}), ("f", {"a": 2})
    assert calls_are_right([other, one], two, FUNCTIONS)
    assert not calls_are_right([one, one], two, FUNCTIONS)
    assert not calls_are_right([one], two, FUNCTIONS)
    assert not calls_are_right([one, other, one], two, FUNCTIONS)
    assert calls_are_right([], [], FUNCTIONS)
    assert not calls_are_right([one], [], FUNCTIONS)


def test_a_parameter_that_must_be_there():
    expected = [{"f": {"a": [1.0], "b": [True]}}]
    assert not calls_are_right([("f", {"a": 1})], expected, FUNCTIONS)
    assert calls_are_right([("f", {"a": 1, "b": True})], expected, FUNCTIONS)


def test_schemas():
    schema = json_schema(FUNCTIONS[0]["parameters"])
    assert schema["type"] == "object" and schema["properties"]["a"] == {"type": "number"}
    assert schema["x-order"] == ["a", "s", "l", "d", "b"] and schema["additionalProperties"] is False
    assert schema["properties"]["l"] == {"type": "array", "items": {"type": "string"}}
    choices = json_schema({"type": "array", "items": {"type": "string"}, "enum": ["x", "y"]})
    assert choices == {"type": "array", "items": {"type": "string", "enum": ["x", "y"]}}


tests = [value for name, value in dict(globals()).items() if name.startswith("test_")]
for test in tests:
    test()
print(f"{len(tests)} passed, 0 failed")
