"""Checks of the command line that hold: help texts as they were, exit statuses by class, refused options with the nearest
one, completions of a real bash; bar: all.
"""

import os
import pathlib
import subprocess
import tempfile

import _frame as frame

frame.arguments(__doc__)
fm = frame.build("fm")
fixtures = frame.ROOT / "Tests/fmTests/Fixtures"
passed, total = 0, 0


def check(name, holds, detail=""):
    global passed, total
    total += 1
    passed += bool(holds)
    if not holds:
        print(f"FAILED {name}: {detail!r}", flush=True)


def run(*words, input="", **environment):
    done = subprocess.run(
        [fm, *words], input=input, capture_output=True, text=True, timeout=60,
        env={"PATH": os.environ["PATH"], "HOME": home, "FM_MODELS_DIR": f"{home}/models", **environment},
    )
    return done.returncode, done.stdout, done.stderr


with tempfile.TemporaryDirectory() as home:
    for fixture in sorted(fixtures.glob("help-*.txt")):
        name = fixture.stem.removeprefix("help-")
        words = ["--help"] if name == "fm" else [name, "--help"]
        status, output, messages = run(*words)
        check(f"{name} --help", status == 0 and output == fixture.read_text() and not messages, output[:200])
        if name != "fm":
            check(f"help {name}", run("help", name)[1] == fixture.read_text())
            status, output, messages = run(name, "--hepl")
            check(f"{name} --hepl", status == 2 and "--help" in messages and not output, messages)

    pathlib.Path(home, "broken.json").write_text("{")
    pathlib.Path(home, "notamodel.gguf").write_bytes(b"nothing of the kind")
    for words, status, text in [
        ([], 2, "a command is missing"), (["respnd", "x"], 2, "respond"), (["respond"], 2, "no prompt"),
        (["respond", "--temprature", "1", "x"], 2, "--temperature"), (["respond", "--temperature", "9", "x"], 2, "0.0 to 2.0"),
        (["respond", "--greedy", "--seed", "1", "x"], 2, "no --seed"), (["respond", "--seed", "-1", "x"], 2, "--seed"),
        (["respond", "--max-tokens", "0", "x"], 2, "--max-tokens"), (["respond", "-x", "x"], 2, "after --"),
        (["respond", "--reasoning", "much", "x"], 2, "light, moderate or deep"),
        (["respond", "--file", "/nowhere", "x"], 2, "/nowhere"), (["respond", "--tool", "/nowhere", "x"], 2, "/nowhere"),
        (["respond", "--schema", f"{home}/broken.json", "x"], 8, "broken.json"),
        (["respond", "--adapter", "/nowhere", "x"], 2, "/nowhere"), (["serve", "--adapter", "/nowhere"], 2, "/nowhere"),
        (["respond", "--adapter", f"{home}/notamodel.gguf", "x"], 5, "notamodel.gguf"),
        (["respond", "--no-pull", "--model", "smollm2-135m", "x"], 5, "smollm2-135m"),
        (["respond", "--model", "smollm2-135", "x"], 2, "smollm2-135m"),
        (["respond", "--model", f"{home}/notamodel.gguf", "x"], 5, "notamodel.gguf"),
        (["respond", "--model", f"{home}/missing.gguf", "x"], 2, "missing.gguf"),
        (["available", "extra"], 2, "extra"), (["rm"], 2, "rm"), (["rm", "smollm2-135m"], 5, "smollm2-135m"),
        (["quota-usage"], 5, "server"), (["completions", "tcsh"], 2, "tcsh"), (["completions"], 2, "shell"),
        (["serve", "--port", "70000"], 2, "--port"), (["serve", "--token-file", "/nowhere"], 2, "/nowhere"),
        (["token-count", "--no-pull", "--model", "smollm2-135m", "x"], 5, "smollm2-135m"), (["version", "x"], 2, "x"),
    ]:
        code, output, messages = run(*words)
        check(" ".join(words), code == status and text in messages and not output, (code, messages))
    for words in [["version"], ["--version"], ["--help"], ["help"], ["models"], ["manual"], ["completions", "bash"]]:
        code, output, messages = run(*words)
        check(" ".join(words), code == 0 and output and not messages, (code, messages))
    for name, value in [("FM_MODEL", "nosuch"), ("FM_MODEL", "/no/such/path"), ("FM_SIMULATE", "nonsense")]:
        code, output, messages = run("respond", "x", **{name: value})
        check(f"{name}={value}", code == 2 and value in messages and not output, (code, messages))
    for value, colours in [("", False), ("1", False)]:
        # No terminal, no colours, whatever the environment says.
        check(f"NO_COLOR={value}", "\x1b" not in run("respond", NO_COLOR=value)[2])

    script = run("completions", "bash")[1]
    for line, expected in [
        ("fm re", {"respond"}), ("fm respond --top", {"--top-p", "--top-k"}), ("fm serve --quo", {"--quota"}),
        ("fm models --use", {"--use", "--use-best"}), ("fm help ver", {"version"}),
    ]:
        words = line.split(" ")
        shell = f"{script}\nCOMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _fm; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True)
        check(f"completion of {line!r}", set(done.stdout.split()) == expected, done.stdout + done.stderr)

frame.verdict("command-line", passed, at_least=total)
