"""Calls of the official `openai` Python client that work unmodified against `fm serve`; bar: all of them.

Chat, streams, tools with automatic and forced choice, a Pydantic model as the answer's type, text completions, log
probabilities, cancelled streams, embeddings, models, and errors as the client's own exceptions.
"""

import json
import math

import _clients as clients
import _frame as frame

clients.use()

import openai  # noqa: E402
import pydantic  # noqa: E402

options = frame.arguments(
    __doc__,
    extra=lambda parser: (
        parser.add_argument("--model", default=frame.DEFAULT_MODEL),
        parser.add_argument("--embeddings", default="nomic-embed-text-v1.5"),
    ),
)
checks = clients.Checks()
check = checks.check

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Gets the weather of a city.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string", "description": "The city's name"}},
            "required": ["city"],
        },
    },
}
MAIL = {
    "type": "function",
    "function": {
        "name": "send_mail",
        "description": "Sends a mail to a person.",
        "parameters": {
            "type": "object",
            "properties": {"to": {"type": "string"}, "text": {"type": "string"}},
            "required": ["to", "text"],
        },
    },
}


class Person(pydantic.BaseModel):
    name: str
    age: int


class Family(pydantic.BaseModel):
    parent: Person
    children: list[Person] = pydantic.Field(max_length=3)


def user(text):
    return [{"role": "user", "content": text}]


embeddings = frame.model(options.embeddings)
with clients.Serve(frame.model(options.model), "--context", "4096", "--embeddings", embeddings) as server:
    client = openai.OpenAI(base_url=server.url + "/v1", api_key="none", max_retries=0, timeout=300)
    model, embedder = (found.id for found in client.models.list())
    create = client.chat.completions.create

    @check
    def models():
        assert client.models.retrieve(model).id == model
        assert client.models.retrieve(model).context_window == 4096

    @check
    def chat():
        answer = create(model=model, messages=user("Say hello."), max_tokens=16, temperature=0)
        assert answer.choices[0].message.content
        assert answer.choices[0].finish_reason in ("stop", "length")
        assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens

    @check
    def cached_prompt():
        messages = [{"role": "system", "content": "You are terse. " * 20}] + user("Name a colour.")
        create(model=model, messages=messages, max_tokens=4)
        again = create(model=model, messages=messages, max_tokens=4)
        assert again.usage.prompt_tokens_details.cached_tokens == again.usage.prompt_tokens - 1

    @check
    def system_and_developer_messages():
        messages = [{"role": "developer", "content": "Answer with one word."}] + user("The capital of France?")
        assert "Paris" in create(model=model, messages=messages, max_tokens=8, temperature=0).choices[0].message.content

    @check
    def parts_of_text():
        parts = [{"type": "text", "text": "What is the capital"}, {"type": "text", "text": "of Italy? One word."}]
        answer = create(model=model, messages=[{"role": "user", "content": parts}], max_tokens=8, temperature=0)
        assert "Rome" in answer.choices[0].message.content

    @check
    def stream():
        whole = create(model=model, messages=user("Count to three."), max_tokens=12, temperature=0)
        chunks = list(
            create(
                model=model, messages=user("Count to three."), max_tokens=12, temperature=0, stream=True,
                stream_options={"include_usage": True},
            )
        )
        text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
        assert text == whole.choices[0].message.content, (text, whole.choices[0].message.content)
        assert chunks[-1].usage.completion_tokens == whole.usage.completion_tokens
        assert all(chunk.usage is None for chunk in chunks[:-1])

    @check
    def stream_helper():
        with client.chat.completions.stream(model=model, messages=user("Say hi."), max_tokens=200, temperature=0) as events:
            kinds = {event.type for event in events}
            final = events.get_final_completion()
        assert "content.delta" in kinds and final.choices[0].message.content

    @check
    def stream_left_early():
        answer = create(model=model, messages=user("Write a long story."), max_tokens=2000, stream=True)
        for count, _ in enumerate(answer):
            if count == 3:
                break
        answer.close()
        assert server.wait_idle(5), server.health()

    @check
    def tool_automatic():
        answer = create(model=model, messages=user("What is the weather in Paris?"), tools=[WEATHER, MAIL], temperature=0)
        choice = answer.choices[0]
        assert choice.finish_reason == "tool_calls" and choice.message.content is None
        call = choice.message.tool_calls[0]
        assert call.function.name == "get_weather" and json.loads(call.function.arguments) == {"city": "Paris"}

    @check
    def tool_not_needed():
        answer = create(
            model=model, messages=user("What is the capital of France?"), tools=[WEATHER, MAIL], max_tokens=20,
            temperature=0,
        )
        assert answer.choices[0].finish_reason in ("stop", "length") and not answer.choices[0].message.tool_calls

    @check
    def tool_round_trip():
        messages = user("What is the weather in Paris?")
        first = create(model=model, messages=messages, tools=[WEATHER], temperature=0).choices[0].message
        messages.append(first)
        messages.append({"role": "tool", "tool_call_id": first.tool_calls[0].id, "content": "17 degrees and rain"})
        second = create(model=model, messages=messages, tools=[WEATHER], temperature=0, max_tokens=60).choices[0]
        assert second.finish_reason == "stop" and "17" in second.message.content, second

    @check
    def tool_required():
        answer = create(
            model=model, messages=user("Hello there!"), tools=[WEATHER, MAIL], tool_choice="required", temperature=0,
            parallel_tool_calls=False, max_tokens=60,
        )
        assert len(answer.choices[0].message.tool_calls) == 1

    @check
    def tool_named():
        answer = create(
            model=model, messages=user("Tell ann@example.com that I am late."), tools=[WEATHER, MAIL], temperature=0,
            tool_choice={"type": "function", "function": {"name": "send_mail"}}, max_tokens=100,
        )
        call = answer.choices[0].message.tool_calls[0].function
        assert call.name == "send_mail" and set(json.loads(call.arguments)) == {"to", "text"}

    @check
    def tool_none():
        answer = create(
            model=model, messages=user("What is the weather in Paris?"), tools=[WEATHER], tool_choice="none", max_tokens=8
        )
        assert answer.choices[0].message.tool_calls is None and answer.choices[0].message.content

    @check
    def tools_in_parallel():
        answer = create(
            model=model, messages=user("What is the weather in Paris and what is it in Rome?"), tools=[WEATHER],
            temperature=0,
        )
        cities = [json.loads(call.function.arguments)["city"] for call in answer.choices[0].message.tool_calls]
        assert sorted(cities) == ["Paris", "Rome"], cities

    @check
    def tool_stream():
        name, arguments = None, ""
        for chunk in create(
            model=model, messages=user("What is the weather in Oslo?"), tools=[WEATHER], temperature=0, stream=True
        ):
            for call in chunk.choices[0].delta.tool_calls or []:
                name = call.function.name or name
                arguments += call.function.arguments or ""
        assert name == "get_weather" and json.loads(arguments)["city"] == "Oslo"

    @check
    def pydantic_answer():
        answer = client.chat.completions.parse(
            model=model, messages=user("Anna is 34 years old."), response_format=Person, temperature=0, max_tokens=60
        )
        assert answer.choices[0].message.parsed == Person(name="Anna", age=34), answer.choices[0].message

    @check
    def pydantic_nested_answer():
        text = "Anna, 34, has the children Ben, 3, and Carla, 5."
        answer = client.chat.completions.parse(
            model=model, messages=user(text), response_format=Family, temperature=0, max_tokens=200
        )
        assert len(answer.choices[0].message.parsed.children) == 2, answer.choices[0].message

    @check
    def pydantic_tool():
        tool = openai.pydantic_function_tool(Person, name="remember", description="Remembers a person.")
        answer = client.chat.completions.parse(
            model=model, messages=user("Remember Anna, who is 34."), tools=[tool], temperature=0, tool_choice="required",
            parallel_tool_calls=False, max_tokens=60,
        )
        assert answer.choices[0].message.tool_calls[0].function.parsed_arguments.age == 34

    @check
    def json_object():
        answer = create(
            model=model, messages=user("A JSON object with a key colour."), max_tokens=200, temperature=0,
            response_format={"type": "json_object"},
        )
        assert isinstance(json.loads(answer.choices[0].message.content), dict), answer.choices[0].message.content

    @check
    def log_probabilities():
        answer = create(
            model=model, messages=user("Yes or no?"), max_tokens=4, logprobs=True, top_logprobs=5, temperature=0
        )
        tokens = answer.choices[0].logprobs.content
        assert "".join(token.token for token in tokens) == answer.choices[0].message.content
        assert all(len(token.top_logprobs) == 5 and token.logprob <= 0 for token in tokens)

    @check
    def several_answers():
        answer = create(model=model, messages=user("A colour?"), n=3, max_tokens=4, seed=5, temperature=1)
        assert [choice.index for choice in answer.choices] == [0, 1, 2]

    @check
    def seed():
        answers = [
            create(model=model, messages=user("A colour?"), max_tokens=8, seed=5, temperature=1, top_p=0.9)
            for _ in range(2)
        ]
        assert answers[0].choices[0].message.content == answers[1].choices[0].message.content

    @check
    def stop_text():
        answer = create(model=model, messages=user("Count: 1, 2, 3, 4, 5"), max_tokens=40, stop=["3"], temperature=0)
        assert answer.choices[0].finish_reason == "stop" and "3" not in answer.choices[0].message.content

    @check
    def text_completion():
        answer = client.completions.create(
            model=model, prompt=["The capital of France is", "1, 2, 3,"], max_tokens=4, temperature=0, logprobs=2
        )
        assert "Paris" in answer.choices[0].text and "4" in answer.choices[1].text
        assert len(answer.choices[0].logprobs.tokens) == 4

    @check
    def text_completion_stream():
        chunks = client.completions.create(model=model, prompt="1, 2, 3,", max_tokens=6, temperature=0, stream=True)
        assert "4" in "".join(chunk.choices[0].text for chunk in chunks)

    def raises(kind, code, function):
        try:
            function()
        except kind as error:
            assert error.code == code, (error.code, code)
        else:
            raise AssertionError(f"no {kind.__name__}")

    @check
    def error_unknown_model():
        raises(openai.NotFoundError, "model_not_found", lambda: create(model="gpt-4", messages=user("x")))

    @check
    def error_wrong_value():
        raises(openai.BadRequestError, "invalid_value", lambda: create(model=model, messages=user("x"), temperature=9))

    @check
    def error_unsupported_parameter():
        raises(
            openai.BadRequestError, "unsupported_parameter",
            lambda: create(model=model, messages=user("x"), frequency_penalty=1),
        )

    @check
    def error_too_long():
        raises(
            openai.BadRequestError, "context_length_exceeded",
            lambda: create(model=model, messages=user("word " * 9000), stream=True),
        )

    @check
    def error_schema():
        schema = {"name": "x", "schema": {"type": "object", "properties": {"a": {"type": "colour"}}}}
        raises(
            openai.BadRequestError, "unsupported_schema",
            lambda: create(
                model=model, messages=user("x"), response_format={"type": "json_schema", "json_schema": schema}
            ),
        )

    def embed(inputs, **more):
        return [row.embedding for row in client.embeddings.create(model=embedder, input=inputs, **more).data]

    def cosine(a, b):
        return sum(x * y for x, y in zip(a, b)) / math.sqrt(sum(x * x for x in a) * sum(y * y for y in b))

    @check
    def embedding_of_a_text():
        # The client asks for base64 unless it is told otherwise.
        answer = client.embeddings.create(model=embedder, input="search_query: What is a cat?")
        assert answer.model == embedder and len(answer.data) == 1 and answer.data[0].index == 0
        assert abs(sum(x * x for x in answer.data[0].embedding) - 1) < 1e-4
        assert answer.usage.prompt_tokens == answer.usage.total_tokens > 0

    @check
    def embeddings_of_texts():
        query, cat, bridge = embed([
            "search_query: pets that purr", "search_document: The cat sleeps on the sofa and purrs.",
            "search_document: The bridge was opened in 1889.",
        ])
        assert cosine(query, cat) > cosine(query, bridge) + 0.1

    @check
    def embedding_formats():
        (packed,), (floats,) = embed("clustering: red"), embed("clustering: red", encoding_format="float")
        assert max(abs(a - b) for a, b in zip(packed, floats)) < 1e-6 and len(packed) == len(floats)

    @check
    def embedding_dimensions():
        ((whole,), (short,)) = embed("clustering: red"), embed("clustering: red", dimensions=128)
        assert len(short) == 128 and abs(sum(x * x for x in short) - 1) < 1e-4
        assert cosine(short, whole[:128]) > 0.99

    @check
    def embedding_of_tokens():
        body = {"model": embedder, "content": "clustering: red", "add_special": True}
        tokens = client.post(server.url + "/tokenize", body=body, cast_to=object)["tokens"]
        assert cosine(embed([tokens])[0], embed("clustering: red")[0]) > 0.999999

    @check
    def error_embeddings():
        raises(openai.BadRequestError, "invalid_value", lambda: embed(""))
        raises(openai.BadRequestError, "invalid_value", lambda: embed("x", dimensions=10_000))
        raises(openai.BadRequestError, "context_length_exceeded", lambda: embed("word " * 9000))
        raises(openai.BadRequestError, "unsupported_model", lambda: client.embeddings.create(model=model, input="x"))
        raises(openai.BadRequestError, "unsupported_model", lambda: create(model=embedder, messages=user("x")))

with clients.Serve(frame.model(options.model), environment={"FM_SERVE_TOKEN": "secret"}) as server:

    @check
    def token():
        right = openai.OpenAI(base_url=server.url + "/v1", api_key="secret", max_retries=0)
        assert right.models.list().data
        wrong = openai.OpenAI(base_url=server.url + "/v1", api_key="secreT", max_retries=0)
        raises(openai.AuthenticationError, "invalid_api_key", wrong.models.list)


frame.verdict("openai-python", checks.passed, at_least=checks.total)
