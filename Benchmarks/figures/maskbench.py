"""Schemas of MaskBench whose every instance is judged rightly, token by token over a real vocabulary: >= 95 %, wrong verdicts 0.

A valid instance must be accepted to its end and an invalid one stopped; a schema that cannot be enforced must be refused. The
text is the instance as our own writer prints it, members in the order of the schema. Two lines: the wrong verdicts, then the share.
"""

import _frame as frame
import _outcomes as outcomes


def main():
    def extra(parser):
        parser.add_argument("--model", default="qwen2.5-coder-0.5b", help="whose vocabulary to use (default: %(default)s)")
        parser.add_argument("--write", action="store_true", help="check these outcomes in")

    options = frame.arguments(__doc__, data=outcomes.DATA / "maskbench-dev.jsonl.gz", extra=extra)
    results = outcomes.read(frame.measure("maskbench", frame.model(options.model), outcomes.unpacked(options.data)))
    clean, wrong = outcomes.report(results)
    outcomes.compare("maskbench", results, write=options.write)
    outcomes.times("ours", [r["compile"] for r in results if r["compile"]], [t for r in results for t in r["masks"]])
    print(f"{len(results)} schemas: {clean} clean, {len(results) - clean - wrong} refused, {wrong} wrong")
    print(f"maskbench-wrong {wrong} <=0 {'ok' if wrong == 0 else 'short'}")
    share = 100 * clean / len(results)
    # A share above the bar is worth nothing beside a wrong verdict.
    frame.verdict("maskbench", share if wrong == 0 else 0.0, at_least=95, digits=4)


if __name__ == "__main__":
    main()
