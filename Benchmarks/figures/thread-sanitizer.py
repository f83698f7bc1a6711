"""Reports of the thread sanitizer over the tests of concurrency (100 sessions, random cancellations and changes) and of the server: bar 0.

Builds the tests with the sanitizer into a folder of their own, which takes minutes at the first time. A test that fails is counted as a
report too.
"""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import _frame as frame


def options(parser):
    parser.add_argument("--filter", default="ConcurrencyTests|ToolFaultTests|FoundationModelsServerTests", help="the tests (default: %(default)s)")
    parser.add_argument("--scratch-path", default=str(frame.ROOT / ".build" / "thread-sanitizer"))


given = frame.arguments(__doc__, extra=options)
command = [
    "swift", "test", "--sanitize=thread", "--scratch-path", given.scratch_path, "--filter", given.filter,
]
environment = {**os.environ, "TSAN_OPTIONS": "halt_on_error=0 exitcode=0 second_deadlock_stack=1"}
with tempfile.TemporaryDirectory() as folder:
    # What the sanitizer cannot see of Swift's locks.
    clang = pathlib.Path(os.path.realpath(shutil.which("swiftc"))).with_name("clang")
    library = pathlib.Path(folder) / "mutex.so"
    source = frame.ROOT / "Tests" / "Sanitizers" / "mutex.c"
    subprocess.run([clang, "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", library, source], check=True)
    done = subprocess.run(
        command, cwd=frame.ROOT, env={**environment, "LD_PRELOAD": str(library)}, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
    )
reports = re.findall(r"^WARNING: ThreadSanitizer: .*(?:\n.*){0,8}", done.stdout, re.M)
for report in reports[:5]:
    print(report)
ran = re.search(r"Test run with (\d+) tests?.* (passed|failed)", done.stdout)
if ran is None or int(ran[1]) == 0:
    print(done.stdout[-3000:])
    raise frame.Unmeasured("the tests did not run")
failures = len(re.findall(r"^. Test .* failed after", done.stdout, re.M))
print(f"{ran[1]} tests under the thread sanitizer, {failures} failed, {len(reports)} reports")
frame.verdict("thread-sanitizer", len(reports) + failures, at_most=0)
