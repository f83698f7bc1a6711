"""Behind `./figures`: lists the figures, runs one, or installs the peers."""

import ast
import os
import pathlib
import shutil
import sys
import textwrap

FOLDER = pathlib.Path(__file__).resolve().parent


def figures():
    """The figures by name, each with the first paragraph of its docstring."""
    found = {}
    for path in sorted(FOLDER.glob("[!_]*.py")):
        text = ast.get_docstring(ast.parse(path.read_text())) or ""
        found[path.stem] = " ".join(text.partition("\n\n")[0].split())
    return found


def main(arguments):
    known = figures()
    if not arguments or arguments[0] in ("-h", "--help"):
        width = max((len(name) for name in known), default=0)
        columns = max(width + 40, min(120, shutil.get_terminal_size((120, 24)).columns))
        for name, text in known.items():
            print(textwrap.fill(
                text, columns, initial_indent=f"{name:<{width}}  ", subsequent_indent=" " * (width + 2),
                break_on_hyphens=False))
        if arguments:
            print("\nusage: ./figures [NAME [--data FILE] [ARGUMENT ...] | --install-peers]")
        return 0
    name, *rest = arguments
    if name == "--install-peers":
        os.execv(sys.executable, [sys.executable, str(FOLDER / "_install_peers.py"), *rest])
    if name not in known:
        import difflib

        near = [other for other in known if other.startswith(name)]
        near = near or difflib.get_close_matches(name, [*known, "--install-peers"], n=1)
        hint = f", did you mean '{near[0]}'?" if near else "."
        print(f"figures: no figure '{name}'{hint} './figures' lists them.", file=sys.stderr)
        return 2
    sys.path.insert(0, str(FOLDER))
    from _frame import PEERS

    python = PEERS / "venv" / "bin" / "python"
    python = str(python) if python.exists() else sys.executable
    os.execv(python, [python, str(FOLDER / f"{name}.py"), *rest])


if __name__ == "__main__":
    try:
        status = main(sys.argv[1:])
        sys.stdout.flush()
    except BrokenPipeError:
        # Who read the list has enough, as in `./figures | head`.
        os._exit(1)
    sys.exit(status)
