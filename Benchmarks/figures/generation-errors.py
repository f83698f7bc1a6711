"""Tests of the errors of both generations that pass in a build with the trait `GenerationErrors`, which throws the first one's: bar all.

Builds the tests with the trait into a folder of their own, which takes minutes at the first time.
"""

import re
import subprocess

import _frame as frame


def options(parser):
    parser.add_argument("--scratch-path", default=str(frame.ROOT / ".build" / "generation-errors"))


given = frame.arguments(__doc__, extra=options)
done = subprocess.run(
    ["swift", "test", "--traits", "GenerationErrors", "--scratch-path", given.scratch_path]
    + ["--filter", "GenerationErrorsTests"],
    cwd=frame.ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
)
ran = re.search(r"Test run with (\d+) tests?", done.stdout)
if ran is None or int(ran[1]) == 0:
    print(done.stdout[-3000:])
    raise frame.Unmeasured("the tests did not run")
failed = len(re.findall(r"^. Test .* failed after", done.stdout, re.M))
if failed or done.returncode:
    print("\n".join(line for line in done.stdout.splitlines() if "recorded an issue" in line)[:3000])
passed = int(ran[1]) - max(failed, 1 if done.returncode else 0)
frame.verdict("generation-errors", passed, at_least=int(ran[1]))
