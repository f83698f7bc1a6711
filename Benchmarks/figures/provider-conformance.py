"""Checks of `checkLanguageModel` that fail, over all kinds of models, bar 0.

The kinds are a scripted model, the model of this machine, and ChatCompletionsLanguageModel against two servers, `fm serve` and that of
llama-cpp-python, which is built from PyPI's sources at the first time (of that one neither usage nor answers under a schema are
asked: it sends no usage in streams, and knows no `json_schema`). All use the same model file. llama.cpp's `llama-server` is not
among them: required to call a tool it lets this model answer in text.
"""

import contextlib
import pathlib
import socket
import subprocess
import time
import urllib.error
import urllib.request

import _clients
import _frame as frame

DEFAULT_MODEL = "qwen2.5-coder-0.5b"


@contextlib.contextmanager
def server(name, command, path):
    """Runs a server for the length of a `with` block; gives its address once it answers."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [str(part).replace("{port}", str(port)) for part in command]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 180
        while True:
            if process.poll() is not None:
                raise frame.Unmeasured(f"{name} ended with status {process.returncode}")
            if time.monotonic() > end:
                raise frame.Unmeasured(f"{name} did not answer within 180 s")
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5):
                    break
            except (urllib.error.URLError, OSError):
                time.sleep(0.2)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        try:
            process.wait(timeout=35)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def main():
    options = frame.arguments(
        __doc__, extra=lambda parser: parser.add_argument("--model", default=DEFAULT_MODEL, help="a name or a path")
    )
    model = frame.model(options.model)
    name = pathlib.Path(model).stem
    failures = 0

    def check(title, *arguments):
        nonlocal failures
        violations = frame.measure_json("conformance", *arguments, timeout=3600)
        failures += len(violations)
        print(f"{title}: " + ("all checks pass" if not violations else f"{len(violations)} failures"), flush=True)
        for violation in violations:
            print(f"  {violation}", flush=True)

    check("scripted model", "scripted")
    check("model of this machine", "system", model)
    serve = [frame.build("fm"), "serve", "--model", model, "--port", "{port}", "--threads", frame.THREADS]
    with server("fm serve", serve, "/health") as address:
        check("fm serve", "chat", address, name)
    python = [_clients.python_with("llama_cpp.server", "llama-cpp-python[server]"), "-m", "llama_cpp.server"]
    python += ["--model", model, "--port", "{port}", "--chat_format", "chatml-function-calling"]
    python += ["--n_ctx", "4096", "--n_threads", frame.THREADS]
    with server("llama-cpp-python", python, "/v1/models") as address:
        check("llama-cpp-python", "chat", address, name, "plain")
    frame.verdict("provider-conformance", failures, at_most=0)


if __name__ == "__main__":
    main()
