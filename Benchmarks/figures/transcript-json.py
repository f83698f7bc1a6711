"""Transcripts that are the same after reading and writing: Apple's two published files and 2,000 random ones of every kind: share, bar 1."""

import _frame as frame

FIXTURES = frame.ROOT / "Tests" / "FoundationModelsTests" / "Fixtures"


def options(parser):
    parser.add_argument("--count", type=int, default=2000, help="random transcripts (default: %(default)s)")


given = frame.arguments(__doc__, extra=options)
files = sorted(FIXTURES.glob("test_transcript*.json"))
output = frame.measure("transcript-json", given.count, *files)
print("\n".join(line[:300] for line in output.splitlines()[:20]))
found = frame.last_json(output)
if found["total"] != given.count + len(files):
    raise frame.Unmeasured(f"{found['total']} transcripts instead of {given.count + len(files)}")
frame.verdict("transcript-json", found["identical"] / found["total"], at_least=1.0)
