"""`@generable`, which makes a class one that a model can make instances of."""

import dataclasses
import typing

from .errors import InvalidGenerationSchemaError
from .generable import ConvertibleFromGeneratedContent, GeneratedContent, GenerationID
from .generation_property import Property
from .generation_schema import GenerationSchema
from .type_conversion import _list_element, _optional_part


class GenerableDecoratorError(InvalidGenerationSchemaError):
    """`@generable` stands where it cannot."""


def generable(arg=None):
    """Makes a class generable: a dataclass with a schema, whose instances `respond(..., generating=Class)` gives.

    Stands alone or with a description, `@generable("A cat")`.
    """
    if isinstance(arg, type):
        return _apply_generable_decorator(arg, None)
    return lambda cls: _apply_generable_decorator(cls, arg)


def _usage(name):
    return f"Correct usage:\n  @fm.generable\n  class {name}:\n      name: str\n      age: int"


def _apply_generable_decorator(cls, description):
    if not isinstance(cls, type):
        raise GenerableDecoratorError(
            f"@fm.generable can only be applied to classes; this is a {type(cls).__name__}.\n\n{_usage('Example')}"
        )
    name = cls.__name__
    if not cls.__dict__.get("__annotations__"):
        raise GenerableDecoratorError(
            f"The class {name} has no type-annotated fields, so there is nothing to generate.\n\n{_usage(name)}\n\n"
            f"Incorrect usage:\n  class {name}:\n      name = ''  # Type annotation is required"
        )
    try:
        if "__dataclass_fields__" not in cls.__dict__:
            cls = dataclasses.dataclass(cls)
    except (TypeError, ValueError) as error:
        raise GenerableDecoratorError(
            f"The class {name} cannot be a dataclass: {error}.\n\nExample of correct usage:\n  @fm.generable\n"
            f"  class {name}:\n      tags: list[str] = field(default_factory=list)  # A new list for each instance"
        ) from error
    try:
        hints = _hints(cls)
    except Exception as error:
        raise GenerableDecoratorError(
            f"The type hints of the class {name} cannot be resolved: {error}.\n\nExample of correct usage:\n"
            f"  @fm.generable\n  class {name}:\n      parent: Optional['{name}'] = None  # The class itself, in quotes"
        ) from error
    cls._generable = True
    cls._generable_description = description
    # Dataclasses have no methods of these names unless the author of the class wrote them.
    cls.generation_schema = classmethod(_generation_schema)
    cls._from_generated_content = classmethod(_from_generated_content)
    cls.generated_content = property(_generated_content)
    cls.PartiallyGenerated = _partially_generated(cls, hints)
    return cls


def _hints(cls):
    return typing.get_type_hints(cls, localns={cls.__name__: cls}, include_extras=False)


def _generables(python_type):
    """The generable classes in a type."""
    for part in (_optional_part(python_type), _list_element(python_type)):
        if part is not None:
            return _generables(part)
    return [python_type] if getattr(python_type, "_generable", None) is True else []


def _generation_schema(cls, description=None):
    """The schema of the class, with those of the classes that it refers to."""
    hints = _hints(cls)
    nested = {}
    properties = []
    for field in dataclasses.fields(cls):
        properties.append(
            Property(field.name, hints[field.name], field.metadata.get("description"), field.metadata.get("guides", ()))
        )
        for other in _generables(hints[field.name]):
            _collect(other, cls, nested)
    schemas = [GenerationSchema(other, other._generable_description, own) for other, own in nested.items()]
    return GenerationSchema(cls, description or cls._generable_description, properties, schemas)


def _collect(cls, root, nested):
    """Adds a class and those that it refers to, each once, with their properties."""
    if cls is root or cls in nested:
        return
    hints = _hints(cls)
    nested[cls] = [
        Property(field.name, hints[field.name], field.metadata.get("description"), field.metadata.get("guides", ()))
        for field in dataclasses.fields(cls)
    ]
    for hint in hints.values():
        for other in _generables(hint):
            _collect(other, root, nested)


def _from_generated_content(cls, content):
    """An instance with the values of the content."""
    hints = _hints(cls)
    values = {}
    for field in dataclasses.fields(cls):
        try:
            values[field.name] = content.value(hints[field.name], for_property=field.name)
        except Exception as error:
            raise ValueError(f"The content is no {cls.__name__}: '{field.name}' cannot be read: {error}") from error
    return cls(**values)


def _plain(value):
    if getattr(type(value), "_generable", None) is True:
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    return [_plain(element) for element in value] if isinstance(value, list) else value


def _generated_content(self):
    """The instance as content."""
    return GeneratedContent(_plain(self))


def _partially_generated(cls, hints):
    """The class of what there is of an instance while it is made: every field may be missing."""
    fields = [
        (name, hint if _optional_part(hint) is not None else typing.Optional[hint], dataclasses.field(default=None))
        for name, hint in ((field.name, hints[field.name]) for field in dataclasses.fields(cls))
    ]
    # A class with an `id` of its own keeps it.
    has_own_id = any(name == "id" for name, *_ in fields)
    if not has_own_id:
        fields.append(("id", GenerationID, dataclasses.field(default_factory=GenerationID)))

    def from_generated_content(partial, content):
        values = {} if has_own_id else {"id": content.id}
        for field in dataclasses.fields(cls):
            try:
                values[field.name] = content.value(hints[field.name], for_property=field.name)
            except (TypeError, ValueError):
                # Not far enough yet to be of its type.
                values[field.name] = None
        return partial(**values)

    partial = dataclasses.make_dataclass(
        f"{cls.__name__}PartiallyGenerated",
        fields,
        bases=(ConvertibleFromGeneratedContent,),
        namespace={"_from_generated_content": classmethod(from_generated_content)},
    )
    partial.__module__ = cls.__module__
    return partial
