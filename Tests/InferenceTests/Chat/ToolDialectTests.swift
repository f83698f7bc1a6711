import Foundation
import Inference
import TestSupport
import Testing
import Tokenizers

@Suite struct ToolDialectTests {
    private func dialect(_ source: String) throws -> ToolDialect? {
        let folder = try TemporaryFolder()
        try TinyModel.write(to: folder.file()) { writer in
            writer.pairs.append((key: "tokenizer.chat_template", value: .string(source)))
        }
        let file = try GGUFFile(folder.file())
        return try ChatTemplate(file, tokenizer: Tokenizer(file.tokenizerDescription())).toolDialect
    }

    /// A template of turns whose calls are written by a piece of template for `name` and `arguments`.
    private func template(first: String = "", call: String, between: String = "", last: String = "") -> String {
        """
        {%- for message in messages -%}
        [{{ message.role }}]{{ message.content }}
        {%- for call in message.tool_calls or [] -%}
        {%- set name = call.function.name -%}{%- set arguments = call.function.arguments -%}
        {%- if loop.first -%}\(first){%- else -%}\(between){%- endif -%}\(call){%- if loop.last -%}\(last){%- endif -%}
        {%- endfor -%}[end]
        {%- endfor -%}
        {%- if add_generation_prompt -%}[assistant]{%- endif -%}
        """
    }

    @Test func T12_tagsAroundJSON() throws {
        let found = try dialect(
            template(
                call:
                    "{{ '<tool_call>\\n{\"name\": \"' + name + '\", \"arguments\": ' }}{{ arguments | tojson }}{{ '}\\n</tool_call>' }}",
                between: "{{ '\\n' }}"))
        #expect(
            found
                == ToolDialect(
                    opening: "<tool_call>\n{\"name\": \"", middle: "\", \"arguments\": ",
                    between: "}\n</tool_call>\n<tool_call>\n{\"name\": \"", ending: "}\n</tool_call>[end]"))
        #expect(found?.opener == "<tool_call>")
    }

    @Test func T12_aListOfCalls() throws {
        let found = try dialect(
            template(
                first: "[CALLS][",
                call: "{{ '{\"name\": \"' + name + '\", \"arguments\": ' }}{{ arguments | tojson }}}",
                between: ",", last: "]"))
        #expect(
            found
                == ToolDialect(
                    opening: "[CALLS][{\"name\": \"", middle: "\", \"arguments\": ", between: "},{\"name\": \"",
                    ending: "}][end]"))
    }

    @Test func T12_namesAndArgumentsWithoutJSONAround() throws {
        let found = try dialect(template(call: "[CALL]{{ name }}[ARGS]{{ arguments | tojson }}"))
        #expect(found == ToolDialect(opening: "[CALL]", middle: "[ARGS]", between: "[CALL]", ending: "[end]"))
    }

    @Test func T12_oneCallATurn() throws {
        let found = try dialect(
            """
            {%- for message in messages -%}
            {%- if message.tool_calls -%}
            {%- if message.tool_calls | length != 1 -%}{{ raise_exception('one call at a time') }}{%- endif -%}
            {%- set call = message.tool_calls[0].function -%}
            [assistant]{{ '{"name": "' + call.name + '", "parameters": ' }}{{ call.arguments | tojson }}}[end]
            {%- else -%}[{{ message.role }}]{{ message.content }}[end]{%- endif -%}
            {%- endfor -%}
            {%- if add_generation_prompt -%}[assistant]{%- endif -%}
            """)
        #expect(
            found
                == ToolDialect(
                    opening: "{\"name\": \"", middle: "\", \"parameters\": ", between: nil, ending: "}[end]"))
        #expect(found?.opener == "{\"name\":")
    }

    @Test(arguments: [
        // No calls at all.
        "{% for message in messages %}[{{ message.role }}]{{ message.content }}{% endfor %}{% if add_generation_prompt %}[assistant]{% endif %}",
        // Arguments that are no JSON.
        "{% for message in messages %}[{{ message.role }}]{% for call in message.tool_calls or [] %}<call>{{ call.function.name }}({% for key in call.function.arguments %}{{ key }}=1{% endfor %}){% endfor %}{% endfor %}{% if add_generation_prompt %}[assistant]{% endif %}",
        // An identifier, which a model would have to make up.
        "{% for message in messages %}[{{ message.role }}]{% for call in message.tool_calls or [] %}<call {{ call.id }}>{{ call.function.name }}{{ call.function.arguments | tojson }}{% endfor %}{% endfor %}{% if add_generation_prompt %}[assistant]{% endif %}",
        // Nothing in front of the name.
        "{% for message in messages %}[{{ message.role }}]{% for call in message.tool_calls or [] %}{{ call.function.name }}{{ call.function.arguments | tojson }}{% endfor %}{% endfor %}{% if add_generation_prompt %}[assistant]{% endif %}",
        // Never a conversation with tools.
        "{% if tools %}{{ raise_exception('no tools') }}{% endif %}",
    ])
    func T12_whatIsNoneIsNotTakenForOne(_ source: String) throws {
        #expect(try dialect(source) == nil)
    }
}
