"""Prefill of 512 and 2,048 tokens, 2 threads, tokens per second against llama.cpp: ratio of each model, bar 2.2.

With `--q4-0` the same on Q4_0 files.
"""

import _engine_ratio
import _frame

PROMPTS = [512, 2048]
BAR = 2.2

given = _frame.arguments(__doc__, extra=_engine_ratio.options)
lines = []
for name in given.model or _engine_ratio.MODELS:
    path = _engine_ratio.path_of(name, given.q4_0)
    for prompt in PROMPTS:

        def ours():
            options = ["--prompt", prompt, "--generate", 0, "--threads", _frame.THREADS]
            return _frame.measure_json("engine-speed", path, *options)["prefill"]

        def theirs():
            return _frame.llama_bench(path, prompt=prompt)

        print(f"{name}, {prompt} tokens:", flush=True)
        _, _, ratio = _frame.interleaved(ours, theirs, rounds=given.rounds)
        lines.append((f"{name} at {prompt}:", ratio, {"at_least": BAR}))
worst = min(ratio for _, ratio, _ in lines)
_frame.verdicts(*lines, ("prefill-ratio", worst, {"at_least": BAR}))
