"""Peak memory with 4,096 tokens of context, default model: less file and key-value cache, bar 200 MB; over the peer's, bar 1."""

import json
import os
import subprocess

import _frame

CONTEXT = 4096
ANSWER = 32


def options(parser):
    parser.add_argument("--model", default=_frame.DEFAULT_MODEL, help="a model's name or path (default: %(default)s)")
    parser.add_argument("--context", type=int, default=CONTEXT)
    parser.add_argument("--cache-type", choices=["f16", "q8_0"], default="f16", help="of both engines (default: %(default)s)")


def peer_peak(path, context, cache_type):
    """The most memory that llama.cpp has resident for as long a prompt and answer, the mapped file included."""
    command = [_frame.peer("llama-bench"), "-m", path, "-t", str(_frame.THREADS), "-p", "0", "-n", "0", "-r", "1"]
    command += ["-pg", f"{context - ANSWER},{ANSWER}", "-o", "json", "-ctk", cache_type]
    if cache_type != "f16":
        # It keeps values in 8 bits with its flash attention alone.
        command += ["-ctv", cache_type, "-fa", "on"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise _frame.Unmeasured(f"'{' '.join(command)}' ended with status {process.returncode}")
    json.loads(output)
    return usage.ru_maxrss * 1024


given = _frame.arguments(__doc__, extra=options)
path = _frame.model(given.model)
found = _frame.measure_json("memory", path, "--context", given.context, "--cache-type", given.cache_type)
print(
    f"peak {found['peak'] / 1e6:.0f} MB, file {found['file'] / 1e6:.0f} MB, cache {found['cache'] / 1e6:.0f} MB, "
    f"{found['prompt_tokens']} tokens of prompt, {found['generated_tokens']} generated",
    flush=True,
)
theirs = peer_peak(path, given.context, given.cache_type)
print(f"peer's peak {theirs / 1e6:.0f} MB")
_frame.verdicts(
    ("memory (against the peer)", found["peak"] / theirs, {"at_most": 1}),
    ("memory", (found["peak"] - found["file"] - found["cache"]) / 1e6, {"at_most": 200}),
)
