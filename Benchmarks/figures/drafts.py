"""Proof-reading 20 texts of about 200 words, greedy, default model: time without drafts over with, identical output, bar 1.8."""

import json
import pathlib

import _frame

DATA = pathlib.Path(__file__).parent / "data" / "proofreading.jsonl"


def options(parser):
    parser.add_argument("--model", default=_frame.DEFAULT_MODEL, help="a model's name or path (default: %(default)s)")
    parser.add_argument("--count", type=int, default=20, help="how many of the texts (default: %(default)s)")


given = _frame.arguments(__doc__, data=DATA, extra=options)
lines = _frame.measure(
    "drafts", _frame.model(given.model), given.data, "--count", given.count, "--threads", _frame.THREADS
).splitlines()
found = [json.loads(line) for line in lines if line.strip()]
for number, text in enumerate(found):
    print(
        f"text {number + 1}: {text['tokens']} tokens, {text['plain']:.2f} s without, {text['drafts']:.2f} s with, "
        f"{text['plain'] / text['drafts']:.2f} ×, {'the same' if text['identical'] else 'ANOTHER TEXT'}"
    )
same = sum(text["identical"] for text in found)
ratio = sum(text["plain"] for text in found) / sum(text["drafts"] for text in found)
print(f"{same} of {len(found)} answers identical")
# An answer that differs makes all the rest worthless.
_frame.verdict("drafts", ratio if same == len(found) else float("nan"), at_least=1.8)
