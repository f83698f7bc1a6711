"""What became of each schema of a suite: read from a measurement, counted by keyword, held against what is checked in."""

import collections
import gzip
import json
import pathlib
import shutil
import tempfile

DATA = pathlib.Path(__file__).resolve().parent / "data"


def read(text):
    """The lines of a measurement, one for each schema."""
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def report(outcomes):
    """Prints what was refused, by keyword, and every wrong verdict. Returns the numbers of clean and of wrong ones."""
    refused = collections.Counter()
    wrong = 0
    for outcome in outcomes:
        kind, _, keyword = outcome["outcome"].partition(": ")
        if kind == "refused":
            refused[keyword] += 1
        elif kind != "clean":
            wrong += 1
            print(f"{kind}: {outcome['name']}: {outcome['detail'][:200]}")
    for keyword, count in refused.most_common():
        print(f"refused for '{keyword}': {count}")
    return len(outcomes) - wrong - sum(refused.values()), wrong


def compare(name, outcomes, *, write):
    """Prints what differs from the outcomes that are checked in for the same schemas, or checks these in."""
    path = DATA / f"{name}-outcomes.txt"
    lines = [f"{outcome['name']}\t{outcome['outcome']}" for outcome in outcomes]
    if write:
        path.write_text("\n".join(lines) + "\n")
        return
    known = dict(line.rsplit("\t", 1) for line in path.read_text().splitlines()) if path.exists() else {}
    for line in lines:
        case, outcome = line.rsplit("\t", 1)
        if case in known and known[case] != outcome:
            print(f"changed: {case}: {known[case]} -> {outcome}")


def unpacked(path):
    """A path to the same lines without compression. What is unpacked lies in a temporary file to the program's end."""
    if not str(path).endswith(".gz"):
        return path
    target = tempfile.NamedTemporaryFile(suffix=".jsonl")
    with gzip.open(path) as source:
        shutil.copyfileobj(source, target)
    target.flush()
    _open.append(target)
    return target.name


_open = []


def quantile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * share))] if values else float("nan")


def times(label, compiles, masks):
    """Prints one engine's times, in microseconds for masks and milliseconds for compilations."""
    print(
        f"{label}: {len(masks)} masks: median {quantile(masks, 0.5) / 1e3:.2f} us, p90 {quantile(masks, 0.9) / 1e3:.1f}, "
        f"p99 {quantile(masks, 0.99) / 1e3:.1f}, longest {quantile(masks, 1) / 1e3:.0f}; "
        f"{len(compiles)} compilations: median {quantile(compiles, 0.5) / 1e6:.2f} ms, p99 {quantile(compiles, 0.99) / 1e6:.2f}, "
        f"longest {quantile(compiles, 1) / 1e6:.2f}",
        flush=True,
    )
