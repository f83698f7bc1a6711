"""llama.cpp's server on loopback, for figures that compare with it."""

import json
import socket
import subprocess
import time
import urllib.error
import urllib.request

import _frame as frame


class LlamaServer:
    """Runs `llama-server` with one model for the length of a `with` block."""

    def __init__(self, model, *options, context=4096, threads=frame.THREADS):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.command = [frame.peer("llama-server"), "-m", model, "-t", str(threads), "-c", str(context), "-np", "1"]
        self.command += ["--host", "127.0.0.1", "--port", str(self.port), *options]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + 120
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise frame.Unmeasured(f"llama-server ended with status {self.process.returncode}")
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health", timeout=5) as answer:
                    if answer.status == 200:
                        return self
            except (urllib.error.URLError, OSError):
                time.sleep(0.2)
        self.__exit__()
        raise frame.Unmeasured("llama-server did not become ready within 120 s")

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def post(self, path, body, timeout=300):
        """Posts JSON and returns the JSON of the answer."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}", json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        try:
            with urllib.request.urlopen(request, timeout=timeout) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            raise frame.Unmeasured(f"llama-server: {error.code} {error.read().decode(errors='replace')}") from None
        except (urllib.error.URLError, OSError) as error:
            raise frame.Unmeasured(f"llama-server: {error}") from None
