"""Four streams at once against one, default model: tokens per second together over alone, bar 2.2."""

import statistics

import _frame


def options(parser):
    parser.add_argument("--model", default=_frame.DEFAULT_MODEL, help="a model's name or path (default: %(default)s)")
    parser.add_argument("--streams", type=int, default=4)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=3)


given = _frame.arguments(__doc__, extra=options)
path = _frame.model(given.model)
ratios = []
for number in range(given.rounds):
    found = _frame.measure_json(
        "batching", path, "--streams", given.streams, "--tokens", given.tokens, "--threads", _frame.THREADS
    )
    ratios.append(found["together"] / found["alone"])
    print(
        f"round {number + 1}/{given.rounds}: {found['alone']:.2f} tokens/s alone, {found['together']:.2f} together, "
        f"{ratios[-1]:.2f} ×",
        flush=True,
    )
_frame.verdict("batching", statistics.median(ratios), at_least=2.2)
