"""Prefill of 512 tokens with 2 threads and the default model, tokens per second against llama.cpp: ratio, bar 0.8."""

import _frame

PROMPT = 512


def options(parser):
    parser.add_argument("--model", default=_frame.DEFAULT_MODEL, help="a model's name or path (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=5)


given = _frame.arguments(__doc__, extra=options)
path = _frame.model(given.model)


def ours():
    options = ["--prefill", PROMPT, "--decode", 0, "--threads", _frame.THREADS, "--repeat", 1]
    return _frame.measure_json("engine-speed", path, *options)["prefill"]


_, _, ratio = _frame.interleaved(ours, lambda: _frame.llama_bench(path, prompt=PROMPT), rounds=given.rounds)
_frame.verdict("prefill-ratio", ratio, at_least=0.8)
