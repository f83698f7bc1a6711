"""Python clients of Chat Completions servers, in an environment of their own, and the servers that figures give them."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import venv

import _frame as frame

PACKAGES = ["openai", "pydantic", "langchain-openai", "langchain", "litellm", "pydantic-ai-slim[openai]"]
FOLDER = frame.PEERS / "clients"


def use(packages=PACKAGES, folder=FOLDER):
    """Goes on under a Python of its own that has the packages; they are installed at the first time."""
    python = folder / "bin" / "python"
    if sys.prefix == str(folder):
        return
    done = folder / ".installed"
    wanted = "\n".join(packages)
    if not (done.exists() and done.read_text() == wanted):
        print(f"figures: installing {', '.join(packages)} into {folder}", file=sys.stderr, flush=True)
        if not python.exists():
            venv.create(folder, with_pip=True)
        frame.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages])
        done.write_text(wanted)
    os.execv(python, [str(python), *sys.argv])


def python_with(module, requirement):
    """The Python of the clients once it has a further package, which only some figures need and which takes long to install."""
    python = FOLDER / "bin" / "python"
    if not python.exists():
        venv.create(FOLDER, with_pip=True)
    if subprocess.run([python, "-c", f"import {module}"], stderr=subprocess.DEVNULL).returncode:
        print(f"figures: installing {requirement} into {FOLDER}", file=sys.stderr, flush=True)
        frame.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", requirement])
    return python


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Serve:
    """Runs `fm serve` with one model for the length of a `with` block."""

    def __init__(self, model, *options, threads=frame.THREADS, environment=None):
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.command = [frame.build("fm"), "serve", "--no-pull", "--model", model, "--port", str(self.port)]
        self.command += ["--threads", str(threads), *options]
        self.environment = environment

    def __enter__(self):
        self.process = subprocess.Popen(
            self.command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            env=None if self.environment is None else {**os.environ, **self.environment},
        )
        # It says where it listens as soon as it does.
        line = self.process.stderr.readline().decode()
        if not line.startswith("fm: ") or " at http://" not in line:
            self.process.kill()
            raise frame.Unmeasured(f"fm serve did not start: {line.strip()}")
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(timeout=40)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    @property
    def is_alive(self):
        return self.process.poll() is None

    @property
    def memory(self):
        """Resident bytes."""
        with open(f"/proc/{self.process.pid}/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    @property
    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def get(self, path, timeout=60):
        with urllib.request.urlopen(self.url + path, timeout=timeout) as answer:
            return answer.read().decode()

    def health(self):
        return json.loads(self.get("/health"))

    def wait_idle(self, seconds=60):
        """Waits until no generation is computed or waits; False when that does not come."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            state = self.health()
            if state["active"] == 0 and state["waiting"] == 0:
                return True
            time.sleep(0.1)
        return False


class Checks:
    """Counts what works; each check is a function whose name says what it shows."""

    def __init__(self):
        self.passed = 0
        self.total = 0

    def check(self, function):
        self.total += 1
        start = time.monotonic()
        try:
            function()
        except Exception as error:  # What fails is told, and the others go on.
            print(f"FAILED {function.__name__}: {type(error).__name__}: {str(error)[:500]}", flush=True)
        else:
            self.passed += 1
            print(f"ok {function.__name__} ({time.monotonic() - start:.1f} s)", flush=True)
        return function
