"""Texts of JSONTestSuite that are read as the suite expects, with every beginning of those to be accepted (all of them).

Each text goes through the strict JSON reader, which has to accept or reject it as the suite says (where it says 'either', both
will do), and through GeneratedContent(json:). Each text that is to be accepted is also cut off after every byte: each
beginning has to be partial content or be refused with a typed error. A crash fails the figure.
"""

import pathlib

import _frame as frame

DATA = pathlib.Path(__file__).parent / "data" / "json-parsing.jsonl"


def main():
    options = frame.arguments(__doc__, data=DATA)
    output = frame.measure("json-parsing", options.data)
    result = frame.last_json(output)
    print(output.rstrip())
    frame.verdict("json-parsing", result["right"], at_least=result["texts"])


if __name__ == "__main__":
    main()
