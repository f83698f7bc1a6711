"""Control tokens that texts of a conversation spell and that become such, or that a template spells and that do not: bar 0.

Over the chat templates of models in use (llama.cpp's collection) and their conversations: every spelling of a control token
that comes from a text must be marked as content, and none that the template says. A tag that a template makes of a name of
the conversation, such as `<city>` for a parameter, is no control token: the name in it must be content. Over the models of
the catalogue, with their own vocabularies and templates: texts that spell each control token make none, and lose nothing.
"""

import copy
import pathlib
import re

import _frame
import _jinja
from _conversations import COMMON, CONVERSATIONS

MODELS = ["smollm2-135m", "gemma-3-270m", "qwen2.5-coder-0.5b", "qwen2.5-coder-1.5b"]
# How vocabularies spell control tokens.
SPELLING = re.compile(r"<[|｜][^\s<>]{1,60}[|｜]>|</?[a-zA-Z_]{1,40}>|\[/?[A-Z_]{2,30}\]|<[a-z_0-9]+[:|][^\s<>]{1,40}>")
# Around each spelling that is put into a text; no template says them.
BEFORE, AFTER = "\u2402", "\u2403"
# What texts of the conversations spell by themselves.
OWN = {"<think>", "</think>", "<|im_end|>", "</s>", "<Paris>"}


def names(value):
    """The names that a conversation's tools, schemas and arguments bring in."""
    if isinstance(value, dict):
        return set(value) | {name for one in value.values() for name in names(one)}
    return {name for one in value for name in names(one)} if isinstance(value, list) else set()


# Tags around them are made of names, so they are not in any vocabulary.
NAMED = {
    tag
    for conversation in CONVERSATIONS.values()
    for part in [
        conversation.get("tools"),
        [message.get("tool_calls") for message in conversation["messages"]],
    ]
    for name in names(part)
    for tag in (f"<{name}>", f"</{name}>")
}


def options(parser):
    parser.add_argument("--program", help="a built `measure` to take instead of building it")
    parser.add_argument("--templates", type=pathlib.Path, help="a folder of .jinja files (default: llama.cpp's)")
    parser.add_argument("--models", nargs="*", default=MODELS, help="names or paths (default: the catalogue)")


def poisoned(value, poison, key=None):
    """The value with the poison at the end of each text that a user, a tool or a developer wrote."""
    if isinstance(value, dict):
        return {name: poisoned(one, poison, name) for name, one in value.items()}
    if isinstance(value, list):
        return [poisoned(one, poison, key) for one in value]
    # Roles and types are what templates compare; identifiers have forms of their own.
    return value + poison if isinstance(value, str) and key in ("content", "text", "description", "city") else value


def ranges(answer, spellings):
    """The places of spellings in a rendering, in bytes, and whether each is content: none, some or all of it."""
    text = answer["text"].encode()
    content = bytearray(len(text))
    for start, end in answer["content"]:
        content[start:end] = b"\1" * (end - start)
    for spelling in spellings:
        for found in re.finditer(re.escape(spelling.encode()), text):
            marks = set(content[found.start() : found.end()])
            poisoned = text[: found.start()].endswith(BEFORE.encode()) and text[found.end() :].startswith(AFTER.encode())
            yield spelling, poisoned, marks


given = _frame.arguments(__doc__, extra=options)
folder = given.templates or _frame.peer_source() / "models" / "templates"
files = sorted(folder.glob("*.jinja"))
if not files:
    raise _frame.Unmeasured(f"no .jinja files in {folder}")

requests = [
    (file, name, {**COMMON, "tools": None, "documents": None, **conversation})
    for file in files
    for name, conversation in CONVERSATIONS.items()
]
plain = _jinja.answer([(file.read_text(), context) for file, _, context in requests], given.program)

wrong = checked = tags = 0
spelled = {}
for (file, name, _), answer in zip(requests, plain):
    if "text" not in answer:
        continue
    found = set(SPELLING.findall(answer["text"])) - OWN
    spelled.setdefault(file, set()).update(found)
    for spelling, _, marks in ranges(answer, found):
        if spelling in NAMED and marks != {0}:
            tags += 1
            if 1 not in marks:
                wrong += 1
                print(f"--- {file.name}, {name}: the name in {spelling} is taken for the template's")
            continue
        checked += 1
        if marks != {0}:
            wrong += 1
            print(f"--- {file.name}, {name}: the template's {spelling} is taken for content")

attacks = []
for file, name, context in requests:
    for spelling in sorted(spelled.get(file, ())):
        poison = BEFORE + spelling + AFTER
        attacks.append((file, name, spelling, poisoned(copy.deepcopy(context), poison)))
hostile = _jinja.answer([(file.read_text(), context) for file, _, _, context in attacks], given.program)
survived = 0
for (file, name, spelling, _), answer in zip(attacks, hostile):
    if "text" not in answer:
        continue
    for _, is_ours, marks in ranges(answer, [spelling]):
        if not is_ours:
            continue
        survived += 1
        if marks != {1}:
            wrong += 1
            print(f"--- {file.name}, {name}: {spelling} of a text is taken for the template's")
print(
    f"{len(files)} templates: {checked} spellings of theirs, {tags} tags of names, {survived} spellings of texts in "
    f"{len(attacks)} renderings"
)

for name in given.models:
    command = [given.program or _frame.build("measure"), "control-tokens", _frame.model(name)]
    result = _frame.last_json(_frame.run(command))
    print(f"{pathlib.Path(name).name}: {result['tokens']} control tokens, {result['prompts']} prompts: {result}")
    wrong += result["made"] + result["lost"] + result["changedTexts"] + result["changedIds"]

_frame.verdict("control-tokens", wrong, at_most=0)
