"""Prefill of 512 and 2,048 tokens, 2 threads, tokens per second against llama.cpp: ratio of each model, bar 2.2.

With `--q4-0` the same on Q4_0 files. Beside each stands the share of the limit of 8-bit arithmetic, measured in the same
run, that the products with the weights make (attention and what stands between come on top); the 1.5B is to reach 60 %.
"""

import _engine_ratio
import _frame

PROMPTS = [512, 2048]
BAR = 2.2
SHARE_BAR = 0.6

given = _frame.arguments(__doc__, extra=_engine_ratio.options)
lines, shares = [], []
for name in given.model or _engine_ratio.MODELS:
    path = _engine_ratio.path_of(name, given.q4_0)
    products = 0

    def ours():
        global products
        options = ["--prompt", ",".join(map(str, PROMPTS)), "--generate", 0, "--threads", _frame.THREADS]
        result = _frame.measure_json("engine-speed", path, *options)
        products = result["products_per_token"]
        return result["prefill"]

    def theirs():
        return _frame.llama_bench(path, prompts=PROMPTS)

    print(f"{name}:", flush=True)
    _, before = _engine_ratio.limits()
    results = _frame.interleaved_lists(ours, theirs, [f"{prompt} tokens" for prompt in PROMPTS], rounds=given.rounds)
    _, after = _engine_ratio.limits()
    limit = (before + after) / 2
    for prompt, (speed, peer, ratio) in zip(PROMPTS, results):
        operations = 2 * products
        print(
            f"  {prompt} tokens: {_engine_ratio.share(speed * operations, limit)} of the 8-bit limit, the peer "
            f"{_engine_ratio.share(peer * operations, limit)} (measured: {limit / 1e9:.0f} Gop/s)",
            flush=True,
        )
        lines.append((f"{name} at {prompt}:", ratio, {"at_least": BAR}))
        if name == _engine_ratio.DEFAULT and prompt == 512 and limit > 0 and not given.q4_0:
            shares.append((f"{name} share of the 8-bit limit:", speed * operations / limit, {"at_least": SHARE_BAR}))
worst = min(ratio for _, ratio, _ in lines)
_frame.verdicts(*lines, *shares, ("prefill-ratio", worst, {"at_least": BAR}))
