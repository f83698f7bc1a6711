"""Time to the first snapshot after `prewarm`, 1,500 tokens of instructions, over the time when another session had read them: bar 1.1.

A third session reads the instructions cold, to show what is saved.
"""

import statistics

import _frame as frame


def options(parser):
    parser.add_argument("--model", default=frame.DEFAULT_MODEL, help="a model's name or path (default: %(default)s)")
    parser.add_argument("--tokens", type=int, default=1500, help="of the instructions (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=5)


given = frame.arguments(__doc__, extra=options)
found = frame.measure_json("prewarm", frame.model(given.model), given.tokens, given.rounds)
median = {kind: statistics.median(times) for kind, times in found.items()}
print("seconds to the first snapshot: " + ", ".join(f"{kind} {median[kind]:.3f}" for kind in ("cold", "prewarmed", "free")))
frame.verdict("prewarm", median["prewarmed"] / median["free"], at_most=1.1)
