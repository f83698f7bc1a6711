"""Throughput of `fm serve` with 16 requests at a time over that of one at a time; bar: 3 with the 0.5B model.

200 requests of mixed lengths, a third of them cancelled at random moments. No place may be lost, memory must stay flat, and
every answer that is not cancelled must be complete: otherwise the value is 0.
"""

import _clients as clients
import _frame as frame
import _load as load

options = frame.arguments(
    __doc__,
    extra=lambda parser: (
        parser.add_argument("--count", type=int, default=200),
        parser.add_argument("--at-once", type=int, default=16),
        parser.add_argument("--parallel", type=int, default=16),
        parser.add_argument("--model", default="qwen2.5-coder-0.5b"),
    ),
)

with clients.Serve(frame.model(options.model), "--context", "4096", "--parallel", str(options.parallel)) as server:
    load.run(server.port, load.requests(4, seed=9), at_once=4)
    memory = server.memory

    results, seconds = load.run(server.port, load.requests(max(6, options.count // 20), seed=2), at_once=1)
    single = sum(result.tokens for result in results) / seconds
    print(f"one at a time: {single:.1f} tokens/s", flush=True)

    # Without cancellations, for the throughput: tokens of an answer that nobody reads to its end cannot be counted.
    results, seconds = load.run(server.port, load.requests(options.count // 2, seed=3), at_once=options.at_once)
    many = sum(result.tokens for result in results) / seconds
    faults = [result.error for result in results if not result.complete]
    first = [result.first for result in results]
    print(
        f"{options.at_once} at a time: {many:.1f} tokens/s, first text after {load.percentile(first, 0.5):.2f} s "
        f"(median), {load.percentile(first, 0.99):.2f} s (p99)", flush=True,
    )

    results, _ = load.run(
        server.port, load.requests(options.count, seed=4), at_once=options.at_once, cancelled=1 / 3, seed=5
    )
    cancelled = sum(result.cancelled for result in results)
    faults += [result.error for result in results if not result.complete and not result.cancelled]
    print(f"{len(results)} requests, {cancelled} cancelled, {len(faults)} not complete", flush=True)
    idle = server.wait_idle(5)
    growth = server.memory - memory
    print(f"places are free: {idle}; memory grew by {growth / 2**20:.0f} MiB", flush=True)
    for fault in faults[:5]:
        print(f"FAILED: {fault}")
    holds = idle and not faults and growth < 256 << 20

frame.verdict("load", many / single if holds else 0.0, at_least=3)
