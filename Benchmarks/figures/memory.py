"""Peak memory with 4,096 tokens of context, default model, less file and key-value cache, in MB: bar 200."""

import _frame

CONTEXT = 4096


def options(parser):
    parser.add_argument("--model", default=_frame.DEFAULT_MODEL, help="a model's name or path (default: %(default)s)")
    parser.add_argument("--context", type=int, default=CONTEXT)


given = _frame.arguments(__doc__, extra=options)
found = _frame.measure_json("memory", _frame.model(given.model), "--context", given.context)
print(
    f"peak {found['peak'] / 1e6:.0f} MB, file {found['file'] / 1e6:.0f} MB, cache {found['cache'] / 1e6:.0f} MB, "
    f"{found['prompt_tokens']} tokens of prompt, {found['generated_tokens']} generated"
)
_frame.verdict("memory", (found["peak"] - found["file"] - found["cache"]) / 1e6, at_most=200)
