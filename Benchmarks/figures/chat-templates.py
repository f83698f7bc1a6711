"""Chat templates of models in use, rendered over 8 conversations, against jinja2 as transformers sets it up: differences, bar 0."""

import difflib
import json
import pathlib

import _frame
import _jinja
from _conversations import COMMON, CONVERSATIONS

def options(parser):
    parser.add_argument("--program", help="a built `measure` to take instead of building it")
    parser.add_argument("--templates", type=pathlib.Path, help="a folder of .jinja files (default: llama.cpp's)")


given = _frame.arguments(__doc__, extra=options)
_frame.need("jinja2", "transformers")
folder = given.templates or _frame.peer_source() / "models" / "templates"
files = sorted(folder.glob("*.jinja"))
if not files:
    raise _frame.Unmeasured(f"no .jinja files in {folder}")

cases = []
for file in files:
    template = file.read_text()
    for name, conversation in CONVERSATIONS.items():
        context = {**COMMON, "tools": None, "documents": None, **conversation}
        cases.append((f"{file.name}, {name}", template, context))

different = failed = 0
ours = _jinja.render([(template, context) for _, template, context in cases], given.program)
for (name, template, context), mine in zip(cases, ours):
    theirs = _jinja.reference(template, context)
    failed += theirs[0] != "text"
    if _jinja.agree(mine, theirs):
        continue
    different += 1
    print(f"--- {name}: ours {mine[0]}, theirs {theirs[0]}")
    if mine[0] == theirs[0] == "text":
        lines = [text[1].splitlines(keepends=True) for text in (theirs, mine)]
        for line in list(difflib.unified_diff(*lines, "theirs", "ours", n=0))[:12]:
            print(json.dumps(line, ensure_ascii=False))
    else:
        print(f"ours:   {mine[1][:300]!r}\ntheirs: {theirs[1][:300]!r}")

print(f"{len(files)} templates, {len(cases)} renderings, of which {failed} are errors on their side")
_frame.verdict("chat-templates", different, at_most=0)
