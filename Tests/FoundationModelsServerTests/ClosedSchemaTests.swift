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
    ])
    func closing(schema: String, closed: String) throws {
        #expect(try JSONValue(parsing: schema).enforcedSchema == JSONValue(parsing: closed))
    }
}
