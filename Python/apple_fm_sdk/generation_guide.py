"""Guides: what the value of a field has to be. They are enforced while the model writes."""

import ctypes
from dataclasses import field
from enum import Enum

from . import _ctypes_bindings as lib
from .c_helpers import _c_string


class GuideType(Enum):
    """The kinds of `GenerationGuide`."""

    anyOf = "enum"
    constant = "constant"
    count = "count"
    element = "element"
    maxItems = "maxItems"
    maximum = "maximum"
    minItems = "minItems"
    minimum = "minimum"
    range = "range"
    regex = "regex"


class GenerationGuide:
    """A rule for the value of a field."""

    def __init__(self, guide_type, value=None):
        self.guide_type = guide_type
        self.value = value

    def __repr__(self):
        return f"GenerationGuide({self.guide_type}, {self.value!r})"

    @classmethod
    def anyOf(cls, values):
        """One of some strings."""
        return cls(GuideType.anyOf, values)

    @classmethod
    def constant(cls, value):
        """This string."""
        return cls(GuideType.constant, value)

    @classmethod
    def count(cls, count):
        """So many elements."""
        return cls(GuideType.count, count)

    @classmethod
    def element(cls, guide):
        """A rule for each element."""
        return cls(GuideType.element, guide)

    @classmethod
    def max_items(cls, value):
        """At most so many elements."""
        return cls(GuideType.maxItems, value)

    @classmethod
    def min_items(cls, value):
        """At least so many elements."""
        return cls(GuideType.minItems, value)

    @classmethod
    def maximum(cls, value):
        """No number above."""
        return cls(GuideType.maximum, value)

    @classmethod
    def minimum(cls, value):
        """No number below."""
        return cls(GuideType.minimum, value)

    @classmethod
    def range(cls, range_tuple):
        """A number from the first to the second, both included."""
        return cls(GuideType.range, range_tuple)

    @classmethod
    def regex(cls, pattern):
        """A string that the whole of a regular expression, as Swift reads it, matches."""
        return cls(GuideType.regex, pattern)

    def convert_to_c(self, prop_ptr):
        """Adds the guide to a property of the library."""
        if self.guide_type == GuideType.element:
            self.value._add(prop_ptr, True)
        else:
            self._add(prop_ptr, False)

    def _add(self, prop_ptr, wrapped):
        kind, value = self.guide_type, self.value
        if kind in (GuideType.anyOf, GuideType.constant):
            choices = [_c_string(choice, "choice") for choice in ([value] if kind == GuideType.constant else value)]
            array = (ctypes.c_char_p * len(choices))(*choices)
            lib.FMGenerationSchemaPropertyAddAnyOfGuide(prop_ptr, array, len(choices), wrapped)
        elif kind == GuideType.count:
            lib.FMGenerationSchemaPropertyAddCountGuide(prop_ptr, value, wrapped)
        elif kind == GuideType.maximum:
            lib.FMGenerationSchemaPropertyAddMaximumGuide(prop_ptr, value, wrapped)
        elif kind == GuideType.minimum:
            lib.FMGenerationSchemaPropertyAddMinimumGuide(prop_ptr, value, wrapped)
        elif kind == GuideType.range:
            low, high = value
            lib.FMGenerationSchemaPropertyAddRangeGuide(prop_ptr, low, high, wrapped)
        elif kind == GuideType.regex:
            lib.FMGenerationSchemaPropertyAddRegex(prop_ptr, _c_string(value, "regular expression"), wrapped)
        elif kind in (GuideType.minItems, GuideType.maxItems) and not wrapped:
            names = {GuideType.minItems: "Min", GuideType.maxItems: "Max"}
            getattr(lib, f"FMGenerationSchemaPropertyAdd{names[kind]}ItemsGuide")(prop_ptr, value)
        else:
            raise ValueError(f"The guide {kind.name} cannot be for the elements of an array.")


def _is_text_list(value):
    return isinstance(value, list) and all(isinstance(element, str) for element in value)


def _is_count(value, least):
    return isinstance(value, int) and not isinstance(value, bool) and least <= value < 1 << 31


def _is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


# What each guide takes: the test of the value, and the test in words.
_CHECKS = {
    "anyOf": (_is_text_list, "a list of strings"),
    "constant": (lambda value: isinstance(value, str), "a string"),
    "count": (lambda value: _is_count(value, 1), "a positive integer"),
    "element": (lambda value: isinstance(value, GenerationGuide), "a GenerationGuide"),
    "max_items": (lambda value: _is_count(value, 0), "a non-negative integer"),
    "maximum": (_is_number, "a number"),
    "min_items": (lambda value: _is_count(value, 0), "a non-negative integer"),
    "minimum": (_is_number, "a number"),
    "range": (
        lambda value: isinstance(value, tuple) and len(value) == 2 and all(map(_is_number, value)),
        "a tuple of two numbers, (minimum, maximum)",
    ),
    "regex": (lambda value: isinstance(value, str), "a string"),
}


def guide(
    description=None,
    *,
    anyOf=None,
    constant=None,
    count=None,
    element=None,
    max_items=None,
    maximum=None,
    min_items=None,
    minimum=None,
    range=None,
    regex=None,
):
    """Describes a field of a `@generable` class and says what its value has to be.

    For example `age: int = guide("In years", range=(0, 20))`.
    """
    given = {
        "anyOf": anyOf,
        "constant": constant,
        "count": count,
        "element": element,
        "max_items": max_items,
        "maximum": maximum,
        "min_items": min_items,
        "minimum": minimum,
        "range": range,
        "regex": regex,
    }
    guides = []
    for name, value in given.items():
        if value is None:
            continue
        is_right, words = _CHECKS[name]
        if not is_right(value):
            raise ValueError(f"{name} is to be {words}, not {value!r}")
        guides.append(getattr(GenerationGuide, name)(value))
    return field(metadata={"description": description, **({"guides": guides} if guides else {})})
