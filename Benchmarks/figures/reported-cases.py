"""Cases that users of such software have reported, on sessions: those covered by a test that bears their code: bar all.

A test covers a case when the case's code stands at the head of its name: `T5_unlimitedRounds`, `C1_C3_T18_overflow...`, in Swift
`@Test func ...`, in Python `def test_T11_...`. With --run the Swift tests among them are run too.
"""

import re

import _frame as frame

CASES = {
    # Tool calling
    "T1": "required tool calling without tools is a typed error that says that tool choice requires tools",
    "T2": "required tool calling goes round without a limit until a tool throws or the mode changes",
    "T3": "instructions that speak of a tool which is not there are noted",
    "T4": "a callback that throws on a tool call ends the turn",
    "T5": "any number of rounds of tool calls in a session",
    "T6": "streaming calls tools like responding does",
    "T7": "a tool call that cannot be parsed is an error and never text for the user",
    "T8": "scalar arguments are read, and never end the process",
    "T9": "malformed arguments are an error with their text and never an empty object",
    "T10": "calls without an identifier get one of their own",
    "T11": "an identifier that comes with each fragment stays one identifier",
    "T12": "the form of tool calls is told from the model and not from the exact name of its family",
    "T13": "arguments that do not fit the tool's type are a ToolCallError around a ParsingError",
    "T14": "an error of a tool reaches the caller and is not told to the model as text",
    "T15": "a tool that never returns does not hold a caller who cancels",
    "T16": "identical calls again and again are carried out, without a cap",
    "T17": "a tool whose definition is not to be included is not in the prompt and can be called",
    "T18": "a tool result larger than the context gives an error that names it",
    "T19": "images and tools together go through one builder of prompts and nothing is dropped in silence",
    "T20": "two tools of one name are a typed error",
    # Context window and history
    "C1": "the count of an overflow is of what the model reads",
    "C2": "after an overflow the transcript is as before and the session goes on",
    "C3": "the text of an overflow has the framework's wording",
    "C4": "a server tells the context window and an overflow has a code of its own",
    "C5": "the context size is right before the first request",
    "C6": "a profile can show a model with a smaller window less of the history",
    "C7": "a rolling window never leaves a response without its prompt or a tool's output without its call",
    "C8": "trimming never doubles the prompt in flight",
    "C9": "the command-line tool has an exit status of its own for an overflow",
    # Streaming
    "R1": "errors that a stream throws can be matched as the enums they are",
    "R2": "a turn of tools alone has no snapshots and ends well",
    "R3": "snapshots are cumulative and come one by one",
    "R4": "half a character is never shown",
    "R5": "no text comes twice",
    "R6": "a stream from a server is shown before the server ends it",
    "R7": "the server sends structured content piece by piece",
    "R8": "in a structure that grows only the tail is open",
    # Concurrency, cancellation, parameters
    "X1": "cancellation reaches the executor and stops the engine",
    "X2": "cancelling one request touches no other",
    "X3": "sessions stand the thread sanitizer and isResponding can be observed",
    "X4": "a second request is refused and the first goes on",
    "X5": "senseless numbers are refused and extreme ones taken",
    "X6": "requests to a server can run at the same time",
    # Saving and restoring transcripts
    "P1": "earlier turns reach the model",
    "P2": "respond adds the response to the transcript",
    "P3": "instructions survive restoring",
    "P4": "tools of a restored transcript are history until they are given again",
    "P5": "definitions of tools are no text of the instructions",
    "P6": "compaction works by a new session and in place",
    "P7": "every kind of entry comes back from JSON, unknown ones fail with a path",
    # Prewarming, latency, token counting
    "W1": "weights are loaded once for all requests and sessions",
    "W2": "a model without a prewarm of its own is noted",
    "W3": "cached tokens are counted honestly when the instructions stay and when they change",
    "K1": "tokens can be counted before sending, in every form",
    "K2": "counts are exact",
    "K3": "nothing has no tokens",
    "K4": "a usage report takes the place of the one before",
}

NAME = r"((?:[A-Z]\d+_)+)\w*"
SWIFT = re.compile(r"@Test\b(?:(?!@Test|\bfunc\b).)*\bfunc\s+(" + NAME + r")", re.S)
PYTHON = re.compile(r"def\s+(test_" + NAME + r")")


def options(parser):
    parser.add_argument("--run", action="store_true", help="run the Swift tests that are found")


def tests():
    """The tests by the code of each case: (path, name)."""
    found = {}
    for path in sorted((frame.ROOT / "Tests").rglob("*")):
        pattern = {".swift": SWIFT, ".py": PYTHON}.get(path.suffix)
        if pattern is None:
            continue
        for match in pattern.finditer(path.read_text(encoding="utf-8")):
            for code in match[2].strip("_").split("_"):
                found.setdefault(code, []).append((path.relative_to(frame.ROOT), match[1]))
    return found


def main():
    given = frame.arguments(__doc__, extra=options)
    found = tests()
    covered = 0
    for code, text in CASES.items():
        covered += code in found
        print(f"{code:4}{text}")
        for path, name in found.get(code, []):
            print(f"        {path}: {name}")
        if code not in found:
            print("        NO TEST")
    if given.run:
        names = sorted({name for code in CASES for path, name in found.get(code, []) if path.suffix == ".swift"})
        frame.run(["swift", "test", "-c", "release", "--disable-testable-imports", "--filter", "|".join(names)], cwd=frame.ROOT)
    frame.verdict("reported-cases", covered, at_least=len(CASES))


if __name__ == "__main__":
    main()
