"""What an answer has to look like."""

import json

from . import _ctypes_bindings as lib
from .c_helpers import _c_string, _ErrorReport, _ManagedObject, _take_string


class GenerationSchema(_ManagedObject):
    """The schema of a class, which `@generable` makes. Answers follow it while they are written."""

    def __init__(self, type_class, description=None, properties=None, dynamic_nested_types=(), _ptr=None):
        self.type_class = type_class
        self.description = description
        self.properties = list(properties or [])
        self.dynamic_nested_types = list(dynamic_nested_types)
        if _ptr is not None:
            super().__init__(_ptr)
            return
        text = _c_string(description, "description of the schema") if description else None
        super().__init__(lib.FMGenerationSchemaCreate(_c_string(type_class.__name__, "name of the schema"), text))
        for nested in self.dynamic_nested_types:
            lib.FMGenerationSchemaAddReferenceSchema(self._ptr, nested._ptr)
        for property in self.properties:
            property.convert_to_c(self._ptr)

    def to_dict(self):
        """The schema as JSON Schema, with the properties in their order.

        Raises `InvalidGenerationSchemaError` when a type is not known and `UnsupportedGuideError` when a guide does not fit.
        """
        report = _ErrorReport()
        text = _take_string(lib.FMGenerationSchemaGetJSONString(self._ptr, *report.arguments))
        if text is None:
            raise report.exception(f"the generation schema of {self.type_class.__name__} is not valid")
        return json.loads(text)
