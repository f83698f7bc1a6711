"""Checks of the chat page of `fm serve` in headless Chromium that hold; bar: all.

The page loads without an error, streams an answer piece by piece, stops one, shows a typed answer as a table while it fills,
tells tokens per second, keeps the conversation, and asks for a token where one is needed. Chromium is installed when missing.
"""

import json
import os
import shutil
import subprocess
import tempfile
import time

import _clients as clients
import _frame as frame

options = frame.arguments(
    __doc__, extra=lambda parser: parser.add_argument("--model", default="qwen2.5-coder-0.5b")
)
checks = clients.Checks()


def chromium():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    script = '. "$root/Scripts/prepare.sh"; install_packages chromium'
    frame.run(["bash", "-c", script], env={"root": str(frame.ROOT), "program": "figures"})
    return shutil.which("chromium") or "chromium"


class Browser:
    """Chromium by its DevTools protocol over a pipe: messages of JSON, each ended by a zero byte."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        to_read, self.to = os.pipe()
        self.back, back_write = os.pipe()
        # The protocol's descriptors in the browser are 3 and 4.
        command = f'exec "$0" "$@" 3<&{to_read} 4>&{back_write}'
        arguments = [chromium(), "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                     "--remote-debugging-pipe", f"--user-data-dir={self.folder.name}", "about:blank"]
        self.process = subprocess.Popen(
            ["bash", "-c", command, *arguments], pass_fds=(to_read, back_write), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        os.close(to_read)
        os.close(back_write)
        self.buffer, self.number, self.errors, self.session = b"", 0, [], None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Runtime.enable")
        self.call("Page.enable")

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" not in self.buffer:
                piece = os.read(self.back, 65536)
                if not piece:
                    raise frame.Unmeasured("Chromium ended")
                self.buffer += piece
            line, self.buffer = self.buffer.split(b"\0", 1)
            answer = json.loads(line)
            if answer.get("method") == "Runtime.exceptionThrown":
                self.errors.append(answer["params"]["exceptionDetails"]["text"])
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(answer["error"]["message"])
                return answer["result"]

    def value(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"]["exception"].get("description", "exception"))
        return result["result"].get("value")

    def wait(self, expression, seconds=60):
        end = time.monotonic() + seconds
        while not (value := self.value(expression)):
            if time.monotonic() > end:
                raise AssertionError(f"{expression} did not come true; the page says {self.value('document.body.innerText')!r}")
            time.sleep(0.02)
        return value

    def open(self, url):
        self.call("Page.navigate", url=url)
        self.wait("document.readyState === 'complete' && typeof ask === 'function'")

    def end(self):
        self.process.terminate()
        self.process.wait(timeout=20)
        self.folder.cleanup()


def say(text):
    browser.value(f"document.getElementById('prompt').value = {json.dumps(text)}")
    browser.value("document.getElementById('form').requestSubmit()")


LAST = "[...document.querySelectorAll('#log > .assistant')].at(-1)"
NOTE = "[...document.querySelectorAll('#log > .note, #log > .error')].at(-1)?.textContent"
READY = "document.getElementById('send').textContent === 'Send'"

browser = Browser()
with clients.Serve(frame.model(options.model), "--context", "2048") as server:

    @checks.check
    def loads():
        browser.open(server.url + "/")
        browser.wait("document.getElementById('model').textContent.includes('2048 tokens')")

    @checks.check
    def streams():
        say("Count from one to twenty in words.")
        lengths = {browser.wait(f"{LAST}?.textContent.length", 60)}
        while not browser.value(READY):
            lengths.add(browser.value(f"{LAST}.textContent.length"))
            time.sleep(0.01)
        assert len(lengths) > 2, lengths
        note = browser.value(NOTE)
        assert "tokens/s" in note and "first after" in note, note

    @checks.check
    def keeps_the_conversation():
        assert browser.value("messages.length") == 2
        say("And backwards?")
        browser.wait(f"{READY} && messages.length === 4", 120)

    @checks.check
    def stops():
        say("Write a very long story about the sea.")
        browser.wait(f"{LAST}?.textContent.length > 0", 60)
        browser.value("document.getElementById('form').requestSubmit()")
        browser.wait(f"{READY} && {NOTE} === 'stopped'", 5)
        assert server.wait_idle(5)

    @checks.check
    def shows_a_typed_answer_as_it_fills():
        browser.value("document.getElementById('clear').click()")
        text = {"type": "string", "maxLength": 40}
        schema = {"type": "object", "properties": {"title": text, "steps": {"type": "array", "items": text, "minItems": 3, "maxItems": 3}},
                  "required": ["title", "steps"]}
        browser.value(f"document.getElementById('schema').value = {json.dumps(json.dumps(schema))}")
        say("How do I boil an egg?")
        rows = set()
        while not (browser.value(READY) and rows):
            rows.add(browser.value(f"{LAST}?.querySelectorAll('tr').length ?? 0"))
            time.sleep(0.01)
        rows.add(browser.value(f"{LAST}.querySelectorAll('tr').length"))
        assert max(rows) == 5 and len(rows - {0}) > 1, rows
        browser.value("document.getElementById('schema').value = ''")

    @checks.check
    def tells_what_is_wrong():
        browser.value("document.getElementById('clear').click()")
        say("word " * 4000)
        browser.wait(f"{READY} && document.querySelector('#log .error')?.textContent.includes('2048')")

    @checks.check
    def shows_markup_as_text():
        browser.value("document.getElementById('clear').click()")
        say("<img src=x onerror='window.hacked = true'>")
        browser.wait(READY, 120)
        assert browser.value("document.querySelectorAll('#log img').length") == 0 and not browser.value("window.hacked")

    @checks.check
    def throws_nothing():
        assert browser.errors == [], browser.errors

with clients.Serve(frame.model(options.model), environment={"FM_SERVE_TOKEN": "secret"}) as server:

    @checks.check
    def asks_for_a_token():
        browser.open(server.url + "/")
        browser.wait("!document.getElementById('token').hidden")
        browser.value("document.getElementById('token').value = 'secret'; document.getElementById('token').onchange()")
        browser.wait("document.getElementById('model').textContent.includes('tokens')")

browser.end()
frame.verdict("chat-page", checks.passed, at_least=checks.total)
