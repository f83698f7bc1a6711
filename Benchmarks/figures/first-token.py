"""Start of the process to the first token, default model in the page cache, prompt of about 20 tokens: median seconds, bar 1."""

import statistics
import subprocess
import time

import _frame

PROMPT = "The three largest cities of Australia, in the order of their inhabitants, from the largest to the smallest, are"


def options(parser):
    parser.add_argument("--model", default=_frame.DEFAULT_MODEL, help="a model's name or path (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=5)


def seconds(program, path):
    start = time.monotonic()
    command = [program, "generate", path, PROMPT, "1", "--raw"]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as process:
        first = process.stdout.read(1)
        taken = time.monotonic() - start
        process.stdout.read()
    if process.returncode or not first:
        raise _frame.Unmeasured(f"'{' '.join(command)}' ended with status {process.returncode}")
    return taken


given = _frame.arguments(__doc__, extra=options)
path = _frame.model(given.model)
program = _frame.build("measure")
# Reads the file into the page cache and the program with its libraries too.
with open(path, "rb") as file:
    while file.read(1 << 24):
        pass
seconds(program, path)
rounds = []
for number in range(given.rounds):
    rounds.append(seconds(program, path))
    print(f"round {number + 1}/{given.rounds}: {rounds[-1]:.3f} s", flush=True)
_frame.verdict("first-token", statistics.median(rounds), at_most=1.0)
