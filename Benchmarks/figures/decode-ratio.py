"""Decoding of 128 tokens, 2 threads, tokens per second against llama.cpp: ratio of each model, empty and behind 2,048 tokens.

Bars: the 1.5B 1.2; the others 1.5 empty and 1.7 behind 2,048 tokens; Q4_0 files (`--q4-0`) 1.2. Beside each stands the
share of the bandwidth measured in the same run, taken as at most 34 GB/s, that reading the weights once a token makes; the
1.5B is to reach 90 % of it. Each round computes the context once per engine and decodes behind it twice.
"""

import _engine_ratio
import _frame

GENERATED = 128
DEPTHS = [0, 2048]
REPEAT = 2
MOST_BANDWIDTH = 34e9

given = _frame.arguments(__doc__, extra=_engine_ratio.options)


def bar(name, depth):
    if given.q4_0 or name == _engine_ratio.DEFAULT:
        return 1.2
    return 1.7 if depth else 1.5


lines = []
for name in given.model or _engine_ratio.MODELS:
    path = _engine_ratio.path_of(name, given.q4_0)
    bytes_per_token = 0

    def ours():
        global bytes_per_token
        options = ["--prompt", 0, "--generate", GENERATED, "--depth", ",".join(map(str, DEPTHS)), "--repeat", REPEAT]
        result = _frame.measure_json("engine-speed", path, *options, "--threads", _frame.THREADS)
        bytes_per_token = result["bytes_per_token"]
        return result["decode"]

    def theirs():
        return _frame.llama_bench(path, generate=GENERATED, depths=DEPTHS, repeat=REPEAT)

    print(f"{name}:", flush=True)
    before, _ = _engine_ratio.limits()
    results = _frame.interleaved_lists(ours, theirs, [f"behind {depth}" for depth in DEPTHS], rounds=given.rounds)
    after, _ = _engine_ratio.limits()
    bandwidth = (before + after) / 2
    limit = min(bandwidth, MOST_BANDWIDTH)
    for depth, (speed, peer, ratio) in zip(DEPTHS, results):
        print(
            f"  behind {depth}: {_engine_ratio.share(speed * bytes_per_token, limit)} of the bandwidth, the peer "
            f"{_engine_ratio.share(peer * bytes_per_token, limit)} (measured: {bandwidth / 1e9:.1f} GB/s)",
            flush=True,
        )
        lines.append((f"{name} at {depth}:", ratio, bar(name, depth)))
        if name == _engine_ratio.DEFAULT and depth == 0 and not given.q4_0:
            lines.append((f"{name} share of bandwidth:", speed * bytes_per_token / limit, 0.9))
# The figure's own line is the value that is nearest to its bar, or farthest below it.
worst = min(lines, key=lambda line: line[1] / line[2])
_frame.verdicts(
    *((label, value, {"at_least": limit}) for label, value, limit in lines),
    ("decode-ratio", worst[1], {"at_least": worst[2]}),
)
