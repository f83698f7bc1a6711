"""Logits of random models of each family against transformers in float32: greatest relative error, bar 1e-3.

Every model is small and has random weights; `transformers` computes it in float32, this script writes it as a GGUF file
of F32 tensors, and the engine computes the file: once as a prompt, once token by token. The error of a position is the
greatest difference of its logits over the greatest absolute logit. The engine's cache holds keys and values in half
precision; what remains when the reference rounds its own in the same way is printed too.

`--fixture FILE` writes the models and some of their logits in a form that the tests of the package read. Weights come from
a generator that is easily written twice (`_weights.py`), so that the file need not hold them.
"""

import json
import pathlib
import tempfile

import _frame


def options(parser):
    parser.add_argument("--only", help="one family alone")
    parser.add_argument("--keep", type=pathlib.Path, help="a folder in which the GGUF files stay")
    parser.add_argument("--fixture", type=pathlib.Path, help="write the tests' fixture instead of measuring")


given = _frame.arguments(__doc__, extra=options)
# The fixture has shorter texts and fewer words, but each mechanism in it is at work.
VOCABULARY, TOKENS = (64, 48) if given.fixture else (320, 80)
_frame.need("torch", "transformers", "gguf", "numpy")

import numpy as np  # noqa: E402
import torch  # noqa: E402
import transformers  # noqa: E402
from _random_models import FAMILIES, factors, fill, make, metadata, ours, write  # noqa: E402


def reference(model, tokens, rounds_cache):
    """The logits of a text. [tokens, vocabulary]"""
    layer = transformers.cache_utils.DynamicLayer
    update = layer.update

    def rounding(self, key_states, value_states, *rest, **named):
        return update(self, key_states.half().float(), value_states.half().float(), *rest, **named)

    windowed = transformers.cache_utils.DynamicSlidingWindowLayer
    windowed_update = windowed.update

    def rounding_windowed(self, key_states, value_states, *rest, **named):
        return windowed_update(self, key_states.half().float(), value_states.half().float(), *rest, **named)

    if rounds_cache:
        layer.update, windowed.update = rounding, rounding_windowed
    try:
        with torch.no_grad():
            return model(torch.tensor([tokens]), use_cache=True).logits[0].numpy()
    finally:
        layer.update, windowed.update = update, windowed_update


def main():
    worst = 0.0
    fixture = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        kept = given.keep or folder
        kept.mkdir(parents=True, exist_ok=True)
        for name, (architecture, kind, changes) in FAMILIES.items():
            if given.only and given.only != name:
                continue
            model, configuration = make(kind, {**changes, "vocab_size": VOCABULARY})
            tensors = fill(model, architecture, configuration)
            pairs, constant = metadata(architecture, configuration), factors(model, configuration)
            tokens = [(7 * i * i + 11 * i + len(name)) % (VOCABULARY - 3) + 3 for i in range(TOKENS)]
            exact, rounded = reference(model, tokens, False), reference(model, tokens, True)
            if given.fixture:
                fixture.append(entry(name, pairs, tensors, constant, tokens, exact))
                continue
            path = kept / f"{name}.gguf"
            write(path, pairs, {**constant, **{key: values for key, (values, _, _) in tensors.items()}})

            def error(logits, against):
                return float((np.abs(logits - against).max(axis=1) / np.abs(against).max(axis=1)).max())

            prompt, steps = ours(path, tokens, folder, TOKENS), ours(path, tokens, folder, 1)
            worst = max(worst, error(prompt, exact), error(steps, exact))
            print(
                f"{name:20} as a prompt {error(prompt, exact):.1e}, token by token {error(steps, exact):.1e}, "
                f"with the reference's cache rounded {error(prompt, rounded):.1e}",
                flush=True,
            )
    if given.fixture:
        lines = ",\n".join(json.dumps(entry) for entry in fixture)
        given.fixture.write_text(f"[\n{lines}\n]\n")
        return
    _frame.verdict("families", worst, at_most=1e-3)


def entry(name, pairs, tensors, constant, tokens, logits):
    positions = [0, len(tokens) // 2, len(tokens) - 1]
    return {
        "name": name,
        "metadata": [{"key": key, type(value).__name__: value} for key, value in pairs],
        "tensors": [
            {"name": key, "shape": list(reversed(values.shape)), "scale": scale, "offset": offset}
            for key, (values, scale, offset) in tensors.items()
        ],
        "constants": [{"name": key, "values": [float(value) for value in values]} for key, values in constant.items()],
        "tokens": tokens,
        "positions": positions,
        "logits": [[float(f"{value:.6g}") for value in logits[position]] for position in positions],
    }


main()
