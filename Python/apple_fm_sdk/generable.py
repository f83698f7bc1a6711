"""Values that a model makes."""

import json
import typing
import uuid
from typing import Protocol, runtime_checkable

from . import _ctypes_bindings as lib
from .c_helpers import _c_string, _ErrorReport, _ManagedObject, _take_string
from .type_conversion import _list_element, _optional_part


class GenerationID:
    """Tells one generated value from another."""

    def __init__(self):
        self._id = str(uuid.uuid4())

    def __str__(self):
        return self._id

    def __eq__(self, other):
        return isinstance(other, GenerationID) and self._id == other._id

    def __hash__(self):
        return hash(self._id)


class GeneratedContent(_ManagedObject):
    """What a model wrote, as JSON: an object in most cases."""

    def __init__(self, content_dict=None, id=None, _ptr=None):
        if _ptr is not None:
            super().__init__(_ptr)
            content_dict = json.loads(_take_string(lib.FMGeneratedContentGetJSONString(_ptr)))
        else:
            content_dict = {} if content_dict is None else content_dict
            report = _ErrorReport()
            text = _c_string(json.dumps(content_dict), "content")
            ptr = lib.FMGeneratedContentCreateFromJSON(text, *report.arguments)
            if not ptr:
                raise report.exception("the content is not valid")
            super().__init__(ptr)
        self.id = id or GenerationID()
        self._content_dict = content_dict

    @classmethod
    def from_json(cls, json_str):
        """Content from JSON text."""
        return cls(json.loads(json_str))

    def to_json(self):
        """The content as JSON text."""
        return _take_string(lib.FMGeneratedContentGetJSONString(self._ptr))

    def value(self, type_class=None, for_property=None):
        """The content, or the value of one of its properties; None when there is no such property.

        With `type_class`, objects become instances of `@generable` classes, in lists too.
        """
        value = self._content_dict
        if for_property:
            value = value.get(for_property) if isinstance(value, dict) else None
        return value if type_class is None else _converted(value, type_class, for_property)

    @property
    def is_complete(self):
        """False when the text broke off."""
        return lib.FMGeneratedContentIsComplete(self._ptr)


def _converted(value, type_class, name):
    """A value of JSON as a value of a type."""
    if (part := _optional_part(type_class)) is not None:
        return None if value is None else _converted(value, part, name)
    if (element := _list_element(type_class)) is not None:
        if value is None:
            return []
        if not isinstance(value, list):
            raise TypeError(f"'{name}' is to be a list, not {type(value).__name__}")
        return [_converted(item, element, name) for item in value]
    if isinstance(type_class, type) and getattr(type_class, "_generable", None) is True:
        return type_class._from_generated_content(GeneratedContent(value))
    # A number without a fraction is written as an integer.
    if type_class is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    return value


class ConvertibleFromGeneratedContent(Protocol):
    """A class whose instances are made of content."""

    @classmethod
    def _from_generated_content(cls, content):
        raise NotImplementedError


class ConvertibleToGeneratedContent(Protocol):
    """A class whose instances can be content."""

    @property
    def generated_content(self):
        raise NotImplementedError


@runtime_checkable
class Generable(ConvertibleFromGeneratedContent, ConvertibleToGeneratedContent, Protocol):
    """A class whose instances a model can make: what `@generable` turns a class into."""

    _generable: bool = True
    _generable_description: typing.Optional[str] = None

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        raise TypeError(
            "Subclassing Protocol Generable is not allowed. Use the @fm.generable() decorator instead."
        )

    @classmethod
    def generation_schema(cls):
        raise NotImplementedError

    PartiallyGenerated = None
