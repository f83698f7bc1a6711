"""Milliseconds from the cancellation of a request, while it reads 4,096 tokens, until no thread computes: longest of 5, bar 200."""

import _frame as frame


def options(parser):
    parser.add_argument("--model", default=frame.DEFAULT_MODEL, help="a model's name or path (default: %(default)s)")
    parser.add_argument("--tokens", type=int, default=4096, help="of the prompt (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=5)


given = frame.arguments(__doc__, extra=options)
found = frame.measure_json("cancel-latency", frame.model(given.model), given.tokens, given.rounds)
for kind, text in (("freed", "the caller is free"), ("idle", "no thread computes")):
    print(f"{text} after " + ", ".join(f"{time:.0f}" for time in found[kind]) + " ms")
frame.verdict("cancel-latency", max(found["idle"]), at_most=200.0)
