"""The properties of schemas."""

from . import _ctypes_bindings as lib
from .c_helpers import _c_string
from .type_conversion import _optional_part, _python_type_to_string


class Property:
    """A field of a schema."""

    def __init__(self, name, type_class, description=None, guides=()):
        self.name = name
        self.type_class = type_class
        self.description = description
        self.guides = list(guides)

    def convert_to_c(self, schema_ptr):
        """Adds the property to a schema of the library."""
        try:
            type_name = _python_type_to_string(self.type_class)
        except TypeError as error:
            raise TypeError(f"The property '{self.name}' cannot be generated: {error}.") from None
        description = _c_string(self.description, "description of the property") if self.description else None
        ptr = lib.FMGenerationSchemaPropertyCreate(
            _c_string(self.name, "name of the property"),
            description,
            _c_string(type_name, "type of the property"),
            _optional_part(self.type_class) is not None,
        )
        try:
            for guide in self.guides:
                guide.convert_to_c(ptr)
            lib.FMGenerationSchemaAddProperty(schema_ptr, ptr)
        finally:
            lib.FMRelease(ptr)
