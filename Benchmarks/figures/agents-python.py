"""Agents of public Python frameworks that work unmodified with `fm serve`, of three: langchain-openai, litellm, pydantic-ai;
bar: all. Each has two tools and must call the right one, with the right arguments, and answer with what it gave.
"""

import json

import _clients as clients
import _frame as frame

clients.use()

options = frame.arguments(
    __doc__, extra=lambda parser: parser.add_argument("--model", default=frame.DEFAULT_MODEL)
)
checks = clients.Checks()
QUESTION = "What is the weather in Paris?"
calls = []


def get_weather(city: str) -> str:
    """Gets the weather of a city."""
    calls.append(("get_weather", city))
    return "It is 17 degrees and rains."


def send_mail(to: str, text: str) -> str:
    """Sends a mail to a person."""
    calls.append(("send_mail", to))
    return "sent"


def verify(answer):
    made = calls.copy()
    # The next agent begins with none, however this one fared.
    calls.clear()
    assert made == [("get_weather", "Paris")], made
    assert "17" in answer, answer


with clients.Serve(frame.model(options.model), "--context", "4096") as server:
    url = server.url + "/v1"
    model = json.loads(server.get("/v1/models"))["data"][0]["id"]

    @checks.check
    def langchain_openai():
        from langchain.agents import create_agent
        from langchain_openai import ChatOpenAI

        chat = ChatOpenAI(model=model, base_url=url, api_key="none", temperature=0, max_tokens=100, timeout=300)
        state = create_agent(chat, tools=[get_weather, send_mail]).invoke({"messages": [("user", QUESTION)]})
        verify(state["messages"][-1].content)

    @checks.check
    def litellm():
        import litellm

        def tool(name, description, **properties):
            schema = {"type": "object", "properties": properties, "required": list(properties)}
            return {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}

        text = {"type": "string"}
        tools = [tool("get_weather", get_weather.__doc__, city=text), tool("send_mail", send_mail.__doc__, to=text, text=text)]
        messages = [{"role": "user", "content": QUESTION}]
        for _ in range(4):
            answer = litellm.completion(
                model=f"openai/{model}", api_base=url, api_key="none", messages=messages, tools=tools, temperature=0,
                max_tokens=100, timeout=300,
            ).choices[0].message
            if not answer.tool_calls:
                break
            messages.append(answer)
            for call in answer.tool_calls:
                result = globals()[call.function.name](**json.loads(call.function.arguments))
                messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
        verify(answer.content)

    @checks.check
    def pydantic_ai():
        from pydantic_ai import Agent
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.providers.openai import OpenAIProvider

        chat = OpenAIChatModel(model, provider=OpenAIProvider(base_url=url, api_key="none"))
        agent = Agent(chat, tools=[get_weather, send_mail], model_settings={"temperature": 0, "max_tokens": 100})
        verify(agent.run_sync(QUESTION).output)


frame.verdict("agents-python", checks.passed, at_least=checks.total)
