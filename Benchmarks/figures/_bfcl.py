"""The rule by which the Berkeley Function-Calling Leaderboard (version 4) tells a right call from a wrong one, for Python's
types: https://gorilla.cs.berkeley.edu, `ast_checker`. Written anew from its description.

A call is right when its function is the expected one, every required parameter is there, no parameter is unknown, each value has
the type that the function's description says (a whole number may stand for a float) or that of the accepted answers, and each is
among the accepted answers. Strings are compared without case, spaces and the punctuation `,./-_*^`, quotes alike. A parameter may
be missing when the accepted answers have the empty string.
"""

import re

TYPES = {
    "string": str, "integer": int, "float": float, "boolean": bool, "array": list, "tuple": list, "dict": dict, "any": str,
}


def plain(text):
    return re.sub(r"[ ,./\-_*^]", "", text).lower().replace("'", '"')


def plain_items(values):
    return [plain(item) if isinstance(item, str) else item for item in values]


def kind_of(answers):
    """The type of the accepted answers."""
    return next((type(answer) for answer in answers if answer != ""), None)


def object_is_right(value, answers):
    """Whether an object fits one of the accepted ones, whose properties each have a list of accepted values."""
    for answer in answers:
        if answer == "" or not isinstance(answer, dict):
            continue
        if any(key not in answer for key in value):
            continue
        if any(plain_items([item])[0] not in plain_items(answer[key]) for key, item in value.items()):
            continue
        if all(key in value or "" in accepted for key, accepted in answer.items()):
            return True
    return False


def fits_type(value, answers, expected, element):
    """Whether the value's type is right, and whether it is that of the accepted answers where these have another one."""
    accepted = kind_of(answers)
    is_variable = accepted is not None and accepted is not expected
    if type(value) is expected:
        if element is None:
            return True, is_variable
        for answer in answers:
            if not isinstance(answer, list) or all(fits_type(item, answer, element, None)[0] for item in value):
                return True, is_variable
    return accepted is not None and type(value) is accepted, True


def value_is_right(value, answers, schema):
    expected = TYPES[schema["type"].lower()]
    element = TYPES[schema["items"]["type"].lower()] if expected is list and "items" in schema else None
    if expected is float and type(value) is int:
        value = float(value)
    fits, is_variable = fits_type(value, answers, expected, element)
    if not fits:
        return False
    if not is_variable:
        if expected is dict:
            return object_is_right(value, answers)
        if expected is list and element is dict:
            return any(
                isinstance(answer, list)
                and len(answer) == len(value)
                and all(object_is_right(item, [accepted]) for item, accepted in zip(value, answer))
                for answer in answers
            )
        if expected is str:
            return plain(value) in [plain(answer) for answer in answers if isinstance(answer, str)]
        if expected is list:
            return plain_items(value) in [plain_items(answer) for answer in answers]
    return value in answers


def call_is_right(call, expected, functions):
    """`call` is (name, arguments); `expected` is {name: {parameter: [accepted value, ...]}}."""
    ((name, accepted),) = expected.items()
    function = next(function for function in functions if function["name"] == name)
    given, arguments = call
    if given != name or not isinstance(arguments, dict):
        return False
    properties = function["parameters"]["properties"]
    if any(key not in arguments for key in function["parameters"].get("required", [])):
        return False
    for key, value in arguments.items():
        if key not in properties or key not in accepted or not value_is_right(value, accepted[key], properties[key]):
            return False
    return all(key in arguments or "" in answers for key, answers in accepted.items())


def calls_are_right(calls, expected, functions):
    """Whether the calls are the expected ones, in any order. Where none is expected, none may be there."""
    if len(calls) != len(expected):
        return False
    left = list(calls)
    for answer in expected:
        match = next((call for call in left if call_is_right(call, answer, functions)), None)
        if match is None:
            return False
        left.remove(match)
    return True


def json_schema(parameters):
    """The leaderboard's descriptions of parameters as JSON Schema, which has other names for Python's types."""
    names = {"dict": "object", "float": "number", "tuple": "array", "any": "string"}
    schema = {}
    for key, value in parameters.items():
        if key == "type":
            schema["type"] = names.get(value.lower(), value.lower())
        elif key == "properties":
            schema[key] = {name: json_schema(child) for name, child in value.items()}
        elif key == "items":
            schema[key] = json_schema(value)
        elif key in ("description", "enum", "required"):
            schema[key] = value
        # 'default', 'format' and 'optional' are notes for the reader; the descriptions say the defaults too.
    if schema.get("type") == "array" and "enum" in schema:
        # The leaderboard lists there what a list may hold, as its accepted answers show; JSON Schema says so of the elements.
        schema["items"] = {**schema.get("items", {}), "enum": schema.pop("enum")}
    if "properties" in schema:
        # Readers of JSON that lose the order of an object's members find it here.
        schema["x-order"] = list(schema["properties"])
        schema["additionalProperties"] = False
    return schema
