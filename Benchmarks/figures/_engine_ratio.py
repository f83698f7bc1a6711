"""What `decode-ratio` and `prefill-ratio` share: the models and Q4_0 files, and interleaved runs of both engines on each."""

import os
import pathlib
import re
import subprocess

import _frame

DEFAULT = "qwen2.5-coder-1.5b"
MODELS = [DEFAULT, "qwen2.5-coder-0.5b", "smollm2-135m", "gemma-3-270m"]
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "foundationmodels" / "q4_0"


def options(parser):
    parser.add_argument("--model", action="append", help="a model's name or path; default: each of the catalogue")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--q4-0", action="store_true", help="all matrices in Q4_0, the peer's fastest format")


def path_of(name, q4_0):
    """The model's file, or all of it in Q4_0, made by the peer's `llama-quantize` and kept."""
    path = pathlib.Path(_frame.model(name))
    if not q4_0:
        return str(path)
    made = CACHE / f"{path.stem}-q4_0.gguf"
    if not made.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        partial = made.with_suffix(".partial")
        command = [_frame.peer("llama-quantize"), "--allow-requantize", "--pure", str(path), str(partial), "Q4_0"]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            raise _frame.Unmeasured(f"llama-quantize ended with status {done.returncode}: {done.stderr[-300:]}")
        partial.rename(made)
    return str(made)


def limits():
    """What the machine gives now: bytes per second from memory, and 8-bit operations per second on registers."""
    text = _frame.measure("kernel-speed", _frame.THREADS, "none")
    found = re.search(r"reading ([0-9.]+) GB/s, 8-bit products ([0-9.]+) Gop/s", text)
    if not found:
        raise _frame.Unmeasured("'measure kernel-speed' printed no limits")
    return float(found.group(1)) * 1e9, float(found.group(2)) * 1e9


def share(part, whole):
    return f"{part / whole:.0%}" if whole > 0 else "an unknown share"
