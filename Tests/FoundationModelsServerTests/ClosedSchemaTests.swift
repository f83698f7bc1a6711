import FoundationModelsServer
import JSON
import Testing

@Suite struct ClosedSchemaTests {
    @Test(arguments: [
        (
            #"{"properties": {"a": {"type": "string"}}}"#,
            #"{"properties": {"a": {"type": "string"}}, "type": "object", "additionalProperties": false}"#
        ),
        (
            #"{"type": "object", "properties": {"a": {"type": "array", "items": {"type": "object", "properties": {}}}}}"#,
            #"{"type": "object", "properties": {"a": {"type": "array", "items": {"type": "object", "properties": {}, "additionalProperties": false}}}, "additionalProperties": false}"#
        ),
        // Nothing is said about any property, or about the others.
        (#"{"type": "object"}"#, #"{"type": "object"}"#),
        (
            #"{"type": "object", "properties": {}, "additionalProperties": true}"#,
            #"{"type": "object", "properties": {}, "additionalProperties": true}"#
        ),
        // Closing these would leave no value at all.
        (
            #"{"type": "object", "properties": {}, "required": ["b"]}"#,
            #"{"type": "object", "properties": {}, "required": ["b"]}"#
        ),
        (
            #"{"allOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}, "required": ["b"]}]}"#,
            #"{"allOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}, "required": ["b"]}]}"#
        ),
        (
            #"{"properties": {"a": {}}, "required": ["a"], "anyOf": [{"properties": {"b": {}}, "required": ["b"]}]}"#,
            #"{"properties": {"a": {}}, "required": ["a"], "anyOf": [{"properties": {"b": {}}, "required": ["b"]}]}"#
        ),
        // Closed, each of two branches would take values that fit both of the original.
        (
            #"{"type": "object", "oneOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}]}"#,
            #"{"type": "object", "oneOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}]}"#
        ),
        // A tag that is required tells these apart.
        (
            ##"{"oneOf": [{"properties": {"k": {"const": 1}}, "required": ["k"]}, {"$ref": "#/$defs/x"}], "$defs": {"x": {"properties": {"k": {"const": 2}}, "required": ["k"]}}}"##,
            ##"{"oneOf": [{"properties": {"k": {"const": 1}}, "required": ["k"], "type": "object", "additionalProperties": false}, {"$ref": "#/$defs/x"}], "$defs": {"x": {"properties": {"k": {"const": 2}}, "required": ["k"], "type": "object", "additionalProperties": false}}}"##
        ),
        // What is excluded would be less, and so what is allowed more; through definitions too.
        (
            ##"{"not": {"$ref": "#/$defs/x"}, "$defs": {"x": {"type": "object", "properties": {"a": {"$ref": "#/$defs/y"}}}, "y": {"type": "object", "properties": {"b": {}}}, "z": {"type": "object", "properties": {"c": {}}}}}"##,
            ##"{"not": {"$ref": "#/$defs/x"}, "$defs": {"x": {"type": "object", "properties": {"a": {"$ref": "#/$defs/y"}}}, "y": {"type": "object", "properties": {"b": {}}}, "z": {"type": "object", "properties": {"c": {}}, "additionalProperties": false}}}"##
        ),
        // Where a reference leads is not seen.
        (
            ##"{"properties": {"a": {"not": {"$ref": "#x"}}}}"##, ##"{"properties": {"a": {"not": {"$ref": "#x"}}}}"##
        ),
        (
            ##"{"type": "array", "items": {"$ref": "#/$defs/x", "properties": {"b": {}}}, "$defs": {"x": {"type": "object", "properties": {"a": {}}}}}"##,
            ##"{"type": "array", "items": {"$ref": "#/$defs/x", "properties": {"b": {}}}, "$defs": {"x": {"type": "object", "properties": {"a": {}}}}}"##
        ),
    ])
    func closing(schema: String, closed: String) throws {
        #expect(try JSONValue(parsing: schema).enforcedSchema == JSONValue(parsing: closed))
    }
}
