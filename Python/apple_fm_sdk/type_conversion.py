"""Python's types as the library names them."""

import types
import typing

_SCALARS = {str: "string", int: "integer", float: "number", bool: "boolean"}


def _optional_part(python_type):
    """The T of `Optional[T]` or `T | None`; None for any other type."""
    if typing.get_origin(python_type) not in (typing.Union, types.UnionType):
        return None
    parts = [part for part in typing.get_args(python_type) if part is not type(None)]
    has_none = len(parts) < len(typing.get_args(python_type))
    return parts[0] if has_none and len(parts) == 1 else None


def _list_element(python_type):
    """The T of `list[T]`; None for any other type."""
    arguments = typing.get_args(python_type)
    return arguments[0] if typing.get_origin(python_type) is list and len(arguments) == 1 else None


def _python_type_to_string(python_type):
    """What the library calls a type: "integer" for int, "array<string>" for list[str], the name of any other class."""
    if python_type in _SCALARS:
        return _SCALARS[python_type]
    if (part := _optional_part(python_type)) is not None:
        return _python_type_to_string(part)
    if (element := _list_element(python_type)) is not None:
        return f"array<{_python_type_to_string(element)}>"
    if python_type is list:
        raise TypeError("a list needs the type of its elements, such as list[str]")
    if isinstance(python_type, type):
        return python_type.__name__
    raise TypeError(f"there is no schema for {python_type}")
