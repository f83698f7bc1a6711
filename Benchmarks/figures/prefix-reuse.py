"""Tokens that a second turn computes anew beyond those after the longest common prefix, 1,500 tokens of instructions: bar 1.

What the first turn read and wrote stands at the head of the second prompt. One token is owed: the last one of an answer has
been chosen and not yet computed.
"""

import _frame as frame


def options(parser):
    parser.add_argument("--model", default=frame.DEFAULT_MODEL, help="a model's name or path (default: %(default)s)")
    parser.add_argument("--tokens", type=int, default=1500, help="of the instructions (default: %(default)s)")


given = frame.arguments(__doc__, extra=options)
found = frame.measure_json("prefix-reuse", frame.model(given.model), given.tokens)
anew = found["second"] - found["cached"]
print(
    f"first turn: {found['first']} tokens read, {found['answer']} written; second turn: {found['second']} read, "
    f"{found['cached']} of them cached, {anew} computed anew; common prefix {found['common']}"
)
frame.verdict("prefix-reuse", found["common"] - found["cached"], at_most=1)
