"""Throughput of `fm serve` over that of llama.cpp's server, same weights, same load, side by side; bar: 1.2 (and times to
the first text, median and 99th percentile, lower: 1 at most as a ratio).
"""

import statistics

import _clients as clients
import _frame as frame
import _load as load
from _server import LlamaServer

options = frame.arguments(
    __doc__,
    extra=lambda parser: (
        parser.add_argument("--count", type=int, default=32),
        parser.add_argument("--at-once", type=int, default=16),
        parser.add_argument("--parallel", type=int, default=16),
        parser.add_argument("--rounds", type=int, default=3),
        parser.add_argument("--model", default="qwen2.5-coder-0.5b"),
    ),
)
model = frame.model(options.model)
parallel = str(options.parallel)
times = {"ours": [], "peer": []}


def measure(name, port, number):
    results, seconds = load.run(port, load.requests(options.count, seed=number), at_once=options.at_once)
    incomplete = [result.error for result in results if not result.complete]
    if incomplete:
        raise frame.Unmeasured(f"{name}: {len(incomplete)} answers are not complete: {incomplete[0]}")
    times[name] += [result.first for result in results]
    return sum(result.tokens for result in results) / seconds


def rounds(name, port):
    number = 0

    def one():
        nonlocal number
        number += 1
        return measure(name, port, number)

    return one


# The peer's context is shared by its slots.
context = 4096
peer = LlamaServer(model, "-np", parallel, "--kv-unified", context=context * options.parallel)
with clients.Serve(model, "--context", str(context), "--parallel", parallel) as ours, peer:
    _, _, ratio = frame.interleaved(
        rounds("ours", ours.port), rounds("peer", peer.port), rounds=options.rounds, warm_up=False
    )

medians = {name: statistics.median(values) for name, values in times.items()}
tails = {name: load.percentile(values, 0.99) for name, values in times.items()}
for name in times:
    print(f"{name}: first text after {medians[name]:.3f} s (median), {tails[name]:.3f} s (p99)")
frame.verdicts(
    ("load-ratio-first-median", medians["ours"] / medians["peer"], {"at_most": 1}),
    ("load-ratio-first-p99", tails["ours"] / tails["peer"], {"at_most": 1}),
    ("load-ratio", ratio, {"at_least": 1.2}),
)
