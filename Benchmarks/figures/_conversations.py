"""Conversations that chat templates are measured with, as `transformers` hands them to templates."""

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Current weather of a place.",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": 'A city, as "Zürich" or <Paris>'},
                "unit": {"type": "string", "enum": ["celsius", "fahrenheit"], "default": "celsius"},
                "days": {"type": ["integer", "null"], "minimum": 1},
            },
            "required": ["city"],
        },
    },
}
SUM = {
    "type": "function",
    "function": {
        "name": "sum",
        "description": "Adds numbers.",
        "parameters": {
            "type": "object",
            "properties": {"numbers": {"type": "array", "items": {"type": "number"}}},
            "required": ["numbers"],
        },
    },
}


def call(name, arguments, identifier="call12345"):
    return {"id": identifier, "type": "function", "function": {"name": name, "arguments": arguments}}


SYSTEM = {"role": "system", "content": "You are a helpful assistant."}
ASKED = [
    {"role": "user", "content": "What is the weather in Zürich, and 1.5 + 2?"},
    {"role": "assistant", "content": "", "tool_calls": [call("get_weather", {"city": "Zürich", "days": 3})]},
    {"role": "tool", "name": "get_weather", "tool_call_id": "call12345", "content": '{"temperature": 7.5}'},
    {
        "role": "assistant",
        "content": "Let me add.",
        "reasoning_content": "The weather is known.\nNow the sum.",
        "tool_calls": [call("sum", {"numbers": [1.5, 2, 1e20], "exact": True, "note": None}, "call67890")],
    },
    {"role": "tool", "name": "sum", "tool_call_id": "call67890", "content": "3.5"},
]
COMMON = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}

# Each is what a template sees; `tools` and `documents` are there as `transformers` has them, null or not.
CONVERSATIONS = {
    "one turn": {"messages": [{"role": "user", "content": "Hello"}], "add_generation_prompt": True},
    "system and turns": {
        "messages": [
            SYSTEM,
            {"role": "user", "content": "Hi!"},
            {"role": "assistant", "content": "Hello, how can I help?"},
            {"role": "user", "content": "  Tell me a joke.  "},
        ],
        "add_generation_prompt": True,
    },
    "closed, with thoughts": {
        "messages": [
            {"role": "user", "content": "1+1?"},
            {"role": "assistant", "content": "<think>\nEasy.\n</think>\n\n2"},
            {"role": "user", "content": "And 2+2?"},
            {"role": "assistant", "content": "4"},
        ],
        "add_generation_prompt": False,
    },
    "tools offered": {
        "messages": [{"role": "user", "content": "Weather?"}],
        "tools": [WEATHER, SUM],
        "add_generation_prompt": True,
    },
    "system, tools, calls and results": {
        "messages": [SYSTEM, *ASKED],
        "tools": [WEATHER, SUM],
        "add_generation_prompt": True,
    },
    "calls and an answer": {
        "messages": [*ASKED, {"role": "assistant", "content": "7.5 °C and 3.5."}, {"role": "user", "content": "Thanks"}],
        "tools": [WEATHER],
        "add_generation_prompt": False,
    },
    "empty texts": {
        "messages": [
            {"role": "system", "content": ""},
            {"role": "user", "content": ""},
            {"role": "assistant", "content": ""},
            {"role": "user", "content": "?"},
        ],
        "tools": [],
        "enable_thinking": False,
        "add_generation_prompt": True,
    },
    "scripts and lines": {
        "messages": [
            {"role": "system", "content": "Zeile eins\n\n\tZeile zwei \"q\" 'a' \\ {{ x }} {% y %}\n"},
            {"role": "user", "content": "日本語 🇨🇭 e\u0301 \u00a0\u2028 العربية\r\nend\n"},
            {"role": "assistant", "content": "\n\n ok <|im_end|> </s> \n"},
            {"role": "user", "content": [{"type": "text", "text": "part one"}, {"type": "text", "text": "第二"}]},
        ],
        "enable_thinking": True,
        "add_generation_prompt": True,
    },
}
