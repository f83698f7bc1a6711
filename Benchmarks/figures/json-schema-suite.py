"""Groups of JSON-Schema-Test-Suite (draft 2020-12, required) that are wholly right: >= 70 %, wrong verdicts 0.

A group is right when every instance is judged rightly; one whose schema cannot be enforced must be refused. Two lines: the
wrong verdicts, then the share.
"""

import collections

import _frame as frame
import _outcomes as outcomes


def main():
    options = frame.arguments(
        __doc__,
        data=outcomes.DATA / "json-schema-2020-12.json",
        extra=lambda parser: parser.add_argument("--write", action="store_true", help="check these outcomes in"),
    )
    results = outcomes.read(frame.measure("json-schema-suite", options.data))
    clean, wrong = outcomes.report(results)
    outcomes.compare("json-schema-suite", results, write=options.write)
    files = collections.defaultdict(list)
    for result in results:
        files[result["name"].split(": ", 1)[0]].append(result["outcome"] == "clean")
    for keyword, right in files.items():
        print(f"{keyword}: {sum(right)} of {len(right)}")
    print(f"{len(results)} groups: {clean} clean, {len(results) - clean - wrong} refused, {wrong} wrong")
    print(f"json-schema-suite-wrong {wrong} <=0 {'ok' if wrong == 0 else 'short'}")
    frame.verdict("json-schema-suite", 100 * clean / len(results) if wrong == 0 else 0.0, at_least=70, digits=4)


if __name__ == "__main__":
    main()
