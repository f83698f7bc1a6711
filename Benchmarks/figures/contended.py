"""Decoding beside a busy process per core, and with both threads on one core: share of the speed alone, bar 0.4, and the peer."""

import contextlib
import json
import os
import statistics
import subprocess
import sys

import _frame

BUSY = "while True: pass"


def options(parser):
    parser.add_argument("--model", default=_frame.DEFAULT_MODEL, help="a model's name or path (default: %(default)s)")
    parser.add_argument("--tokens", type=int, default=48)
    parser.add_argument("--rounds", type=int, default=3)


given = _frame.arguments(__doc__, extra=options)
path = _frame.model(given.model)
cores = sorted(os.sched_getaffinity(0))[: _frame.THREADS]


def pinned(command, cpus):
    return ["taskset", "-c", ",".join(str(cpu) for cpu in cpus), *(str(part) for part in command)]


def ours(cpus):
    command = [_frame.build("measure"), "engine-speed", path, "--prompt", 0, "--generate", given.tokens]
    return _frame.last_json(_frame.run(pinned([*command, "--threads", _frame.THREADS], cpus)))["decode"][0]


def theirs(cpus):
    command = [_frame.peer("llama-bench"), "-m", path, "-t", _frame.THREADS, "-p", 0, "-n", given.tokens, "-r", 1]
    rows = json.loads(_frame.run(pinned([*command, "-o", "json"], cpus)))
    return float(rows[-1]["avg_ts"])


@contextlib.contextmanager
def busy():
    """One process per core that never sleeps."""
    processes = [subprocess.Popen(pinned([sys.executable, "-c", BUSY], [cpu])) for cpu in cores]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


CASES = {
    "alone": (cores, contextlib.nullcontext),
    "busy": (cores, busy),
    "one core": (cores[:1], contextlib.nullcontext),
}
speeds = {case: ([], []) for case in CASES}
for number in range(given.rounds):
    for case, (cpus, beside) in CASES.items():
        with beside():
            speeds[case][0].append(ours(cpus))
            speeds[case][1].append(theirs(cpus))
        mine, other = speeds[case][0][-1], speeds[case][1][-1]
        print(f"round {number + 1}/{given.rounds}, {case}: ours {mine:.2f} tokens/s, peer {other:.2f}", flush=True)

medians = {case: tuple(statistics.median(side) for side in both) for case, both in speeds.items()}
alone = medians["alone"][0]
lines = []
for case in ("busy", "one core"):
    mine, other = medians[case]
    lines.append((f"contended ({case}, share of alone)", mine / alone, {"at_least": 0.4}))
    lines.append((f"contended ({case}, against the peer)", mine / other, {"at_least": 1.0}))
_frame.verdicts(*lines, ("contended", min(medians[case][0] for case in ("busy", "one core")) / alone, {"at_least": 0.4}))
