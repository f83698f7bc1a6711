"""What the figures share: the programs that measure, the models, the peers, interleaved runs and the closing line.

A figure is one file of this folder, named as the figure is. The first paragraph of its docstring says what it measures
and what the bar is; run as a program it measures and ends with `verdict`. Names that begin with an underscore are no figures.
"""

import argparse
import json
import os
import pathlib
import select
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Where `./figures --install-peers` puts the programs and packages that figures compare with.
PEERS = pathlib.Path(
    os.environ.get("FM_PEERS_DIR")
    or pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "foundationmodels" / "peers"
)
# Threads of every comparison, ours and the peer's.
THREADS = 2


class Unmeasured(Exception):
    """A figure cannot be measured here; the text says why and what to do."""


def arguments(description, *, data=None, extra=None):
    """Parses a figure's command line. `data` is the default of --data, for figures over a data file; `extra(parser)` adds
    the figure's own options."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    if data is not None:
        parser.add_argument("--data", default=str(data), help="another file of the same format (default: %(default)s)")
    if extra:
        extra(parser)
    return parser.parse_args()


def verdict(name, value, *, digits=3, **bar):
    """Prints `NAME value bar ok|short` and ends the program with 0 or 1. The bar is `at_least=` or `at_most=`."""
    verdicts((name, value, bar), digits=digits)


def verdicts(*lines, digits=3):
    """`verdict` for a figure of several values, each (name, value, {"at_least": bar} or {"at_most": bar}): one line each, and
    0 only when all of them are good. The figure's own name stands on the last line."""
    all_good = True
    for name, value, bar in lines:
        ((kind, limit),) = bar.items()
        if kind not in ("at_least", "at_most"):
            raise ValueError("a bar is at_least or at_most")
        # A value that is not a number is short of every bar.
        good = value >= limit if kind == "at_least" else value <= limit
        all_good = all_good and good
        sign = ">=" if kind == "at_least" else "<="
        print(f"{name} {_number(value, digits)} {sign}{_number(limit, digits)} {'ok' if good else 'short'}", flush=True)
    sys.exit(0 if all_good else 1)


def _number(value, digits):
    return str(value) if isinstance(value, int) else f"{value:.{digits}g}"


def run(command, *, input=None, env=None, cwd=None, timeout=None):
    """Runs a program and returns its standard output as text; its standard error goes to ours."""
    command = [str(part) for part in command]
    try:
        done = subprocess.run(
            command,
            input=input,
            stdin=subprocess.DEVNULL if input is None else None,
            stdout=subprocess.PIPE,
            text=True,
            env=None if env is None else {**os.environ, **env},
            cwd=cwd,
            timeout=timeout,
        )
    except FileNotFoundError:
        raise Unmeasured(f"no program '{command[0]}'") from None
    except subprocess.TimeoutExpired:
        raise Unmeasured(f"'{' '.join(command)}' did not end within {timeout} s") from None
    if done.returncode:
        raise Unmeasured(f"'{' '.join(command)}' ended with status {done.returncode}")
    return done.stdout


# The programs of this package.

_built = {}


def build(product):
    """Builds a product in release, when a source has changed, and returns the path of its program."""
    if product not in _built:
        script = '. "$root/Scripts/prepare.sh"; prepare && build_product "$0" && printf "%s" "$binary"'
        _built[product] = run(["bash", "-c", script, product], env={"root": str(ROOT), "program": "figures"})
    return _built[product]


def add_modules_option(parser):
    parser.add_argument("--modules", help="the folder of the built modules (default: those of the release build)")


def module_flags(folder=None):
    """What a compiler needs to import FoundationModels as it was built: its module, those under it, the macros."""
    folder = pathlib.Path(folder) if folder else pathlib.Path(build("fm")).parent / "Modules"
    if not (folder / "FoundationModels.swiftmodule").exists():
        raise Unmeasured(f"no FoundationModels.swiftmodule in {folder}")
    build_folder = folder.resolve().parent
    flags = ["-I", str(folder)]
    for library in sorted((ROOT / "Sources").glob("CLib*")):
        flags += ["-I", str(library)]
    flags += ["-Xcc", f"-fmodule-map-file={build_folder / 'CKernels.build' / 'module.modulemap'}"]
    return flags


def macro_flags(folder=None):
    """What a compiler needs beside `module_flags` to expand our macros."""
    folder = pathlib.Path(folder) if folder else pathlib.Path(build("fm")).parent / "Modules"
    tool = folder.resolve().parent / "FoundationModelsMacros-tool"
    return ["-load-plugin-executable", f"{tool}#FoundationModelsMacros"]


def target_triple():
    """The triple that the compiler builds for."""
    return json.loads(run(["swiftc", "-print-target-info"]))["target"]["unversionedTriple"]


def measure(name, *parameters, **options):
    """Runs one measurement of `measure` (Benchmarks/Measure) and returns what it prints."""
    return run([build("measure"), name, *parameters], **options)


def measure_json(name, *parameters, **options):
    """The last line that a measurement prints, read as JSON."""
    return last_json(measure(name, *parameters, **options))


def last_json(text):
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        raise Unmeasured("the measurement printed nothing")
    return json.loads(lines[-1])


def model(name):
    """The path of a model of the catalogue, which is fetched when it is not there; a path stays as it is."""
    if os.path.sep in str(name) or str(name).endswith(".gguf"):
        return str(pathlib.Path(name).resolve())
    fm = build("fm")
    run([fm, "pull", "--quiet", name])
    return run([fm, "models", "--path", name]).strip()


DEFAULT_MODEL = "qwen2.5-coder-1.5b"


# The peers.

def peer(program):
    """The path of a program of the peers, such as `llama-bench`."""
    path = PEERS / "bin" / program
    if not path.exists():
        raise Unmeasured(f"no '{program}' under {PEERS}: run './figures --install-peers' first")
    return str(path)


def peer_source():
    """The folder of llama.cpp's source, with its vocabularies and templates."""
    path = PEERS / "llama.cpp"
    if not path.exists():
        raise Unmeasured(f"no llama.cpp under {PEERS}: run './figures --install-peers' first")
    return path.resolve()


def need(*packages):
    """Sees to it that Python packages of the peers can be imported (figures run under the peers' Python when it is there)."""
    import importlib.util

    missing = [package for package in packages if importlib.util.find_spec(package) is None]
    if missing:
        raise Unmeasured(f"no Python package {', '.join(missing)}: run './figures --install-peers' first")


# Comparisons.

def interleaved(ours, theirs, *, rounds=5, unit="tokens/s", warm_up=True):
    """Measures A B A B … and returns (median of ours, median of theirs, ratio of the medians). `ours` and `theirs` are
    functions without arguments that each return one number. Machines are shared and change by the minute: only what was
    measured side by side is compared."""
    if warm_up:
        ours()
        theirs()
    mine, other = [], []
    for number in range(rounds):
        mine.append(ours())
        other.append(theirs())
        print(
            f"round {number + 1}/{rounds}: ours {mine[-1]:.4g} {unit}, peer {other[-1]:.4g} {unit}, "
            f"ratio {mine[-1] / other[-1]:.3f}",
            flush=True,
        )
    a, b = statistics.median(mine), statistics.median(other)
    print(f"medians: ours {a:.4g} {unit}, peer {b:.4g} {unit}", flush=True)
    return a, b, a / b


def interleaved_lists(ours, theirs, labels, *, rounds, unit="tokens/s"):
    """`interleaved` for functions that measure several things at once, one number for each of `labels`. Returns a list of
    (median of ours, median of theirs, ratio of the medians)."""
    mine, other = [], []
    for number in range(rounds):
        mine.append(ours())
        other.append(theirs())
        for label, a, b in zip(labels, mine[-1], other[-1], strict=True):
            print(
                f"round {number + 1}/{rounds}, {label}: ours {a:.4g} {unit}, peer {b:.4g} {unit}, ratio {a / b:.3f}",
                flush=True,
            )
    results = []
    for label, a, b in zip(labels, zip(*mine), zip(*other), strict=True):
        a, b = statistics.median(a), statistics.median(b)
        print(f"medians, {label}: ours {a:.4g} {unit}, peer {b:.4g} {unit}, ratio {a / b:.3f}", flush=True)
        results.append((a, b, a / b))
    return results


def llama_bench(model_path, *, prompts=(), generate=0, depths=(0,), repeat=1, threads=THREADS):
    """Tokens per second of llama.cpp, medians of `repeat`: of prefill for each number of `prompts`, then of decoding `generate`
    tokens behind each of `depths`, which it computes once. One process for all; a first test that is not counted warms up."""
    if bool(prompts) == bool(generate):
        raise ValueError("either prompts or tokens to generate")
    command = [peer("llama-bench"), "-m", model_path, "-t", threads, "-r", repeat, "-o", "json"]
    if prompts:
        # Its own warm-up would compute every prompt once more.
        sizes = [64, *prompts]
        command += ["--no-warmup", "-n", 0, "-p", ",".join(map(str, sizes))]
    else:
        command += ["-p", 0, "-n", generate, "-d", ",".join(map(str, depths))]
    rows = json.loads(run(command))
    speeds = {row["n_prompt"] or row["n_depth"]: statistics.median(row["samples_ts"]) for row in rows}
    missing = set(prompts or depths) - set(speeds)
    if missing:
        raise Unmeasured(f"llama-bench printed nothing for {sorted(missing)}")
    return [speeds[key] for key in prompts or depths]


def _is_read(stream):
    """Whether somebody still reads what is written to a pipe; true for files and terminals."""
    try:
        poll = select.poll()
        poll.register(stream.fileno(), 0)
        return not any(events & (select.POLLERR | select.POLLHUP) for _, events in poll.poll(0))
    except (OSError, ValueError):
        return False


def _excepthook(kind, value, trace):
    if kind is Unmeasured:
        print(f"figures: {value}", file=sys.stderr)
        os._exit(2)
    if kind is BrokenPipeError and not _is_read(sys.stdout):
        # Who read what is printed has enough, as in `./figures NAME | head`. What the figure started has ended by now.
        os._exit(1)
    sys.__excepthook__(kind, value, trace)


sys.excepthook = _excepthook
