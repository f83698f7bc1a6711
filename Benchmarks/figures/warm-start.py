"""A second process with a prewarmed prefix of 1,500 tokens, default model: median seconds to the first token, bar 0.4."""

import statistics
import tempfile

import _frame


def options(parser):
    parser.add_argument("--model", default=_frame.DEFAULT_MODEL, help="a model's name or path (default: %(default)s)")
    parser.add_argument("--tokens", type=int, default=1500)
    parser.add_argument("--rounds", type=int, default=5)


given = _frame.arguments(__doc__, extra=options)
path = _frame.model(given.model)
with tempfile.TemporaryDirectory() as folder:
    parameters = [path, "--folder", folder, "--tokens", given.tokens]
    first = _frame.measure_json("warm-start", *parameters, "--prewarm")
    print(f"first process: {first['load']:.3f} s to load, {first['prewarm']:.2f} s to compute and keep the prefix", flush=True)
    rounds = []
    for number in range(given.rounds):
        found = _frame.measure_json("warm-start", *parameters)
        if found["cached"] < given.tokens:
            raise _frame.Unmeasured(f"only {found['cached']} of {given.tokens} tokens came from the first process")
        rounds.append(found)
        print(
            f"round {number + 1}/{given.rounds}: first token {found['first']:.3f} s after the request, the model being "
            f"loaded; {found['load']:.3f} s to load it before; {found['cached']} of {found['prompt']} tokens cached",
            flush=True,
        )
whole = statistics.median(found["load"] + found["first"] for found in rounds)
print(f"with loading the weights: {whole:.3f} s")
_frame.verdict("warm-start", statistics.median(found["first"] for found in rounds), at_most=0.4)
