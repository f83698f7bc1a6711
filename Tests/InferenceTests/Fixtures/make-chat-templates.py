"""Writes chat-templates.json: the chat templates of the catalogue's model files, null where a file has none.

    python make-chat-templates.py NAME=FILE.gguf ...            # with gguf installed
"""

import json
import pathlib
import sys

import gguf

templates = {}
for argument in sys.argv[1:]:
    name, path = argument.split("=", 1)
    field = gguf.GGUFReader(path).fields.get("tokenizer.chat_template")
    templates[name] = bytes(field.parts[field.data[0]]).decode() if field else None
target = pathlib.Path(__file__).resolve().parent / "chat-templates.json"
target.write_text(json.dumps(templates, indent=1, ensure_ascii=False) + "\n")
