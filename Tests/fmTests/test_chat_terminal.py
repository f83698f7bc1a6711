"""`fm chat` in a real terminal: editing, history, Ctrl-C and Ctrl-D at the prompt. Run by ./test, which sets FM."""

import json
import os
import pathlib
import pty
import select
import signal
import subprocess
import sys
import tempfile
import termios
import time

FM = os.environ.get("FM") or pathlib.Path(__file__).resolve().parents[2] / ".build/release/fm"


class Terminal:
    """A program in a terminal of its own. Unless another is given, the model is a file that only looks like one."""

    def __init__(self, home, *arguments, model=None):
        if model is None:
            model = pathlib.Path(home) / "sample.gguf"
            model.write_bytes(b"GGUF" + bytes(60))
        environment = {"HOME": home, "TERM": "xterm", "PATH": os.environ["PATH"], "FM_MODELS_DIR": f"{home}/models"}
        self.master, terminal = pty.openpty()
        self.process = subprocess.Popen(
            [str(FM), "chat", "--model", str(model), *arguments],
            stdin=terminal, stdout=terminal, stderr=terminal, env=environment, start_new_session=True,
            preexec_fn=lambda: __import__("fcntl").ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(terminal)
        self.seen = ""

    def wait_for_editor(self):
        """Keys that come before the line editor has taken the terminal over are edited by the system, in its way."""
        end = time.monotonic() + 20
        while termios.tcgetattr(self.master)[3] & termios.ICANON and time.monotonic() < end:
            time.sleep(0.01)

    def send(self, text):
        self.wait_for_editor()
        os.write(self.master, text.encode())

    def expect(self, text, seconds=20):
        """Waits until the text has been shown after what was expected before."""
        end = time.monotonic() + seconds
        while text not in self.seen:
            ready, _, _ = select.select([self.master], [], [], max(0, end - time.monotonic()))
            if not ready:
                raise AssertionError(f"{text!r} did not come; seen: {self.seen!r}")
            try:
                piece = os.read(self.master, 4096)
            except OSError:
                piece = b""
            if not piece:
                raise AssertionError(f"ended before {text!r}; seen: {self.seen!r}")
            self.seen += piece.decode(errors="replace")
        self.seen = self.seen[self.seen.index(text) + len(text):]

    def ended(self, seconds=20):
        # The rest is read, so that the program is not held up by a full terminal.
        end = time.monotonic() + seconds
        while self.process.poll() is None and time.monotonic() < end:
            ready, _, _ = select.select([self.master], [], [], 0.1)
            if ready:
                try:
                    self.seen += os.read(self.master, 4096).decode(errors="replace")
                except OSError:
                    pass
        status = self.process.poll()
        if status is None:
            self.process.kill()
            self.process.wait()
        os.close(self.master)
        return status


def model_path():
    name = os.environ.get("FM_MODEL", "smollm2-135m")
    return subprocess.run([str(FM), "models", "--path", name], capture_output=True, text=True, check=True).stdout.strip()


def commands_and_quit(home):
    terminal = Terminal(home)
    terminal.expect("sample. /help shows the commands.")
    terminal.expect("> ")
    terminal.send("/help\r")
    terminal.expect("Write the conversation to a file.")
    terminal.expect("> ")
    terminal.send("/hlep\r")
    terminal.expect("did you mean /help?")
    terminal.send("/quit\r")
    assert terminal.ended() == 0


def interrupt_throws_the_line_away(home):
    terminal = Terminal(home)
    terminal.expect("> ")
    terminal.send("/xyz")
    terminal.expect("/xyz")
    terminal.send("\x03")
    terminal.expect("(/quit or Ctrl-D ends the conversation)")
    terminal.expect("> ")
    # Were the line still there, this would be a command that does not exist.
    terminal.send("/model\r")
    terminal.expect("sample (")
    assert "xyz" not in terminal.seen
    terminal.send("\x04")
    assert terminal.ended() == 0


def history_lasts(home):
    for turn in range(2):
        terminal = Terminal(home)
        terminal.expect("> ")
        if turn == 0:
            terminal.send("/model\r")
        else:
            # The cursor key brings the last line of the run before: /quit is older by one.
            terminal.send("\x1b[A\x1b[A\r")
        terminal.expect("sample (")
        terminal.expect("> ")
        terminal.send("/quit\r")
        assert terminal.ended() == 0
    history = pathlib.Path(home) / ".local/state/foundationmodels/history"
    assert history.stat().st_mode & 0o077 == 0, "others can read what was typed"


def text_beyond_ascii(home):
    terminal = Terminal(home)
    terminal.expect("> ")
    # Typed, taken back with two backspaces, typed anew.
    terminal.send("/modéł\x7f\x7fel\r")
    terminal.expect("sample (")
    terminal.send("/quit\r")
    assert terminal.ended() == 0


def a_request_to_end_leaves_the_terminal_as_it_was(home):
    terminal = Terminal(home)
    before = termios.tcgetattr(terminal.master)
    terminal.expect("> ")
    time.sleep(0.3)
    during = termios.tcgetattr(terminal.master)
    assert not during[3] & termios.ICANON, "no line editing"
    terminal.process.terminate()
    end = time.monotonic() + 20
    while terminal.process.poll() is None and time.monotonic() < end:
        time.sleep(0.05)
    after = termios.tcgetattr(terminal.master)
    assert after[3] & (termios.ICANON | termios.ECHO | termios.ISIG) == before[3] & (
        termios.ICANON | termios.ECHO | termios.ISIG
    ), "the terminal was left in another mode"
    assert terminal.ended() == 143


def interrupt_stops_the_answer_and_not_the_program(home):
    path = model_path()
    terminal = Terminal(home, "--stats", model=path)
    terminal.expect("> ")
    terminal.send("Write a very long story about a ship, of many pages.\r")
    # The answer has begun when a word of it is there, which is no part of what was typed.
    terminal.expect(" pages.", 60)
    while len(terminal.seen.split()) < 8:
        terminal.seen += os.read(terminal.master, 4096).decode(errors="replace")
    os.write(terminal.master, b"\x03")
    terminal.expect("(stopped)", 10)
    terminal.expect("> ")
    terminal.send("/model\r")
    terminal.expect(f"({path})")
    # And the next answer comes as if nothing had been.
    terminal.send("Say yes.\r")
    terminal.expect("tokens/s", 60)
    terminal.expect("> ")
    terminal.send("/quit\r")
    assert terminal.ended() == 0


def turns_outlast_signals(home):
    for number in [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]:
        path = pathlib.Path(home) / f"{number.name}.json"
        process = subprocess.Popen(
            [str(FM), "chat", "--model", model_path(), "--max-tokens", "5", "--greedy", "--transcript", str(path)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),
        )
        process.stdin.write("Say yes.\n")
        process.stdin.flush()
        # The turn is written after the end of the answer.
        end = time.monotonic() + 60
        while not (path.exists() and path.read_text()) and time.monotonic() < end:
            time.sleep(0.02)
        second = subprocess.run(
            [str(FM), "respond", "--transcript", str(path), "x"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
        assert second.returncode == 7 and "another fm" in second.stderr, second
        process.send_signal(number)
        assert process.wait(20) == 128 + number, (number, process.returncode)
        entries = json.loads(path.read_text())["transcript"]["entries"]
        assert [entry["role"] for entry in entries] == ["user", "response"], entries
        assert os.listdir(home) == [path.name], os.listdir(home)
        path.unlink()


TESTS = [
    turns_outlast_signals,
    interrupt_stops_the_answer_and_not_the_program,
    commands_and_quit,
    interrupt_throws_the_line_away,
    history_lasts,
    text_beyond_ascii,
    a_request_to_end_leaves_the_terminal_as_it_was,
]

if __name__ == "__main__":
    failed = 0
    for test in TESTS:
        with tempfile.TemporaryDirectory() as home:
            try:
                test(home)
            except AssertionError as error:
                failed += 1
                print(f"{test.__name__}: {error}")
    print(f"{len(TESTS) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)
