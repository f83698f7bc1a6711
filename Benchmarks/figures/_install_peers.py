"""Installs what figures compare with into the user's cache: llama.cpp with native flags, and Python packages.

    PEERS/llama.cpp     its source, with the vocabularies and the chat templates that figures read
    PEERS/bin           its programs
    PEERS/venv          llguidance, xgrammar, tokenizers, transformers, torch (CPU), peft, gguf, numpy, jinja2, jsonschema

Each step is done once: what is there already is left alone, so that a run that was stopped goes on where it was.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import venv

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from _frame import PEERS  # noqa: E402

PACKAGES = ["llguidance", "xgrammar", "tokenizers", "transformers", "torch", "peft", "gguf", "numpy", "jinja2", "jsonschema"]
PROGRAMS = [
    "llama-bench",
    "llama-server",
    "llama-completion",
    "llama-perplexity",
    "llama-quantize",
    "llama-tokenize",
]


def step(text):
    print(f"figures: {text}", file=sys.stderr, flush=True)


def call(*command, **options):
    command = [str(part) for part in command]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, **options)
    except FileNotFoundError:
        sys.exit(f"figures: no program '{command[0]}'")
    if done.returncode:
        sys.exit(f"figures: '{' '.join(command)}' ended with status {done.returncode}")


def install_packages():
    python = PEERS / "venv" / "bin" / "python"
    done = PEERS / "venv" / ".installed"
    wanted = "\n".join(PACKAGES)
    if done.exists() and done.read_text() == wanted:
        return python
    step(f"installing {', '.join(PACKAGES)} into {PEERS / 'venv'}")
    if not python.exists():
        venv.create(PEERS / "venv", with_pip=True)
    call(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "cmake", "ninja", *PACKAGES)
    done.write_text(wanted)
    return python


def fetch_source(python, tarball):
    source = PEERS / "llama.cpp"
    if source.exists():
        return source
    downloads = PEERS / "downloads"
    downloads.mkdir(parents=True, exist_ok=True)
    if tarball is None:
        step("downloading the source of llama.cpp (llama-cpp-python's source package)")
        # The source package of this one alone: its build requirements may come as wheels, which saves many minutes.
        options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--no-binary", "llama-cpp-python"]
        call(python, "-m", "pip", "download", *options, "-d", downloads, "llama-cpp-python")
        tarball = max(downloads.glob("llama_cpp_python-*.tar.gz"), key=os.path.getmtime)
    unpacked = PEERS / "unpacking"
    shutil.rmtree(unpacked, ignore_errors=True)
    with tarfile.open(tarball) as archive:
        archive.extractall(unpacked, filter="data")
    (vendored,) = unpacked.glob("*/vendor/llama.cpp")
    vendored.rename(source)
    shutil.rmtree(unpacked)
    return source


def build(source, jobs):
    programs = PEERS / "bin"
    if all((programs / name).exists() for name in PROGRAMS):
        return
    tree = PEERS / "build"
    tools = PEERS / "venv" / "bin"
    environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}
    options = ["CMAKE_BUILD_TYPE=Release", "GGML_NATIVE=ON", "GGML_OPENMP=ON", "BUILD_SHARED_LIBS=OFF"]
    options += ["LLAMA_CURL=OFF", "LLAMA_OPENSSL=OFF", "LLAMA_BUILD_TESTS=OFF", "LLAMA_BUILD_EXAMPLES=OFF"]
    options += ["LLAMA_BUILD_TOOLS=ON", "LLAMA_BUILD_SERVER=ON"]
    defines = [f"-D{option}" for option in options]
    step("configuring llama.cpp")
    call("cmake", "-S", source, "-B", tree, "-G", "Ninja", *defines, env=environment, stdout=subprocess.DEVNULL)
    for name in PROGRAMS:
        # One target after the other, so that an interrupted build keeps what it has and says where it is.
        step(f"building {name}")
        call("cmake", "--build", tree, "--target", name, "-j", jobs, env=environment, stdout=subprocess.DEVNULL)
    programs.mkdir(exist_ok=True)
    for name in PROGRAMS:
        partial = programs / f".{name}"
        shutil.copy2(tree / "bin" / name, partial)
        partial.rename(programs / name)


def main():
    parser = argparse.ArgumentParser(prog="./figures --install-peers", description=__doc__)
    parser.add_argument("--tarball", type=pathlib.Path, help="llama-cpp-python's source package, when it is here already")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", choices=["packages", "source", "build"], help="one step alone")
    options = parser.parse_args()
    PEERS.mkdir(parents=True, exist_ok=True)
    only = options.only
    python = install_packages() if only in (None, "packages") else PEERS / "venv" / "bin" / "python"
    if only in (None, "source", "build"):
        source = fetch_source(python, options.tarball)
    if only in (None, "build"):
        build(source, options.jobs)
    step(f"the peers are in {PEERS}")


if __name__ == "__main__":
    main()
