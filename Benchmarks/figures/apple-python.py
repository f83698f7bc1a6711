"""Apple's Python tests that pass, unmodified, against our library and the default model, in per cent, bar 95.

The tests are other people's and not part of this package: `--data DIR`, or FM_PYTHON_SDK_SOURCES, names a checkout of Apple's
python-apple-fm-sdk. They run in a copy, since some write files beside themselves. A test that skips itself does not count as
passed. Every test that did not pass is listed with its reason, and with why that is so where it is known (`EXPLANATIONS`).

`--package ours` (the default) imports the module of this package. `--package theirs` imports Apple's, unmodified: its sources are
copied from the checkout, and the file of bindings that its build would make is made of Apple's own header and pointed at our
library. (Its build itself asks for Xcode, so that `pip install` of it works on Apple's systems only.)
"""

import os
import pathlib
import re
import shutil
import sys
import tempfile
import xml.etree.ElementTree as xml

import _clients as clients
import _frame as frame

# The last is what Apple's build makes its bindings with.
clients.use(
    ["pytest", "pytest-asyncio", "pytest-timeout", "psutil", "setuptools", "ctypesgen"], frame.PEERS / "python-sdk"
)

HEADER = "foundation-models-c/Sources/FoundationModelsCBindings/include/FoundationModels.h"
# The header speaks Apple's compiler; what reads it runs the system's preprocessor.
DEFINES = ["-D_Nonnull=", "-D_Nullable=", "-D__attribute__(x)="]


# Why tests do not pass with a sound library: the beginning of a test's name, words of its reason, and the explanation.
EXPLANATIONS = [
    ("test_", "Image prompts not supported", "the default model reads text alone; Apple's tests skip themselves then"),
    ("test_guardrail_violation_error", "DID NOT RAISE", "the library has no judge of content: it is the program's matter"),
    ("test_unsupported_language", "not triggered", "prompts in rare languages are answered; the test skips itself then"),
    ("test_person_", "0 == 3", "the model takes 'no grandchildren' for 'no children', also where nothing forces the form"),
    ("test_newsletter_", "Sponsor should be None", "the model names a sponsor, or writes 'No sponsor'; it could leave it out"),
    ("test_stream_response_cancellation", "was not raised", "the model's answer was shorter than five seconds this time"),
]


def explanation(name, text):
    """Why a test cannot pass, or None where nobody knows."""
    name = name.split(".")[-1]
    return next((words for start, part, words in EXPLANATIONS if name.startswith(start) and part in text), None)


def options_of(parser):
    parser.add_argument("--data", default=os.environ.get("FM_PYTHON_SDK_SOURCES"), help="a checkout of Apple's package")
    parser.add_argument("--package", choices=["ours", "theirs"], default="ours", help="the module that is imported")
    parser.add_argument("--model", default=os.environ.get("FM_MODEL") or frame.DEFAULT_MODEL)
    parser.add_argument("--library", help="libFoundationModelsC.so (default: that of the release build)")
    parser.add_argument("--timeout", type=int, default=900, help="seconds for one test (default: %(default)s)")
    parser.add_argument("--tests", nargs="*", default=["tests"], help="files or folders of the checkout")


def module_folder(options, checkout, library, folder):
    """The folder to import apple_fm_sdk from."""
    if options.package == "ours":
        return frame.ROOT / "Python"
    package = folder / "theirs" / "apple_fm_sdk"
    shutil.copytree(checkout / "src" / "apple_fm_sdk", package)
    ctypesgen = pathlib.Path(sys.prefix) / "bin" / "ctypesgen"
    bindings = package / "_ctypes_bindings.py"
    frame.run([ctypesgen, checkout / HEADER, *DEFINES, "-L", library.parent, "-l", "FoundationModelsC", "-o", bindings])
    return package.parent


def reason(element):
    """Why a test did not pass, on one line."""
    text = re.sub(r"\s+", " ", element.get("message") or element.text or "").strip()
    return text[:300] + ("…" if len(text) > 300 else "")


def main():
    options = frame.arguments(__doc__, extra=options_of)
    checkout = pathlib.Path(options.data or "")
    if not options.data or not (checkout / "tests").is_dir():
        raise frame.Unmeasured(
            "no tests: check Apple's python-apple-fm-sdk out and name the folder with --data or FM_PYTHON_SDK_SOURCES"
        )
    checkout = checkout.resolve()
    library = pathlib.Path(options.library or frame.build("FoundationModelsC")).resolve()
    model = options.model if options.library else frame.model(options.model)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        shutil.copytree(checkout / "tests", folder / "tests")
        # The settings of the tests.
        shutil.copy(checkout / "pyproject.toml", folder)
        environment = {
            "PYTHONPATH": str(module_folder(options, checkout, library, folder)),
            "FM_LIBRARY": str(library),
            "FM_MODEL": str(model),
            "FM_PREFIXES_DIR": "0",
        }
        report = folder / "report.xml"
        # A failing test is a result, not a reason to stop. How far it is goes to standard error.
        command = '"$0" -m pytest -q --tb=no -p no:cacheprovider --timeout "$1" --junitxml "$2" "${@:3}" >&2 || true'
        frame.run(
            ["bash", "-c", command, sys.executable, options.timeout, report, *options.tests], env=environment, cwd=folder
        )
        if not report.exists():
            raise frame.Unmeasured("the tests ended without a report; what they said last stands above")
        cases = list(xml.parse(report).getroot().iter("testcase"))
    if not cases:
        raise frame.Unmeasured("no test ran; what was said stands above")
    passed = skipped = unexplained = 0
    for case in cases:
        name = f"{case.get('classname')}.{case.get('name')}"
        outcomes = [(kind, case.find(kind)) for kind in ("failure", "error", "skipped")]
        outcome = next(((kind, found) for kind, found in outcomes if found is not None), None)
        if outcome is None:
            passed += 1
        else:
            words = "skipped itself" if outcome[0] == "skipped" else "failed"
            skipped += outcome[0] == "skipped"
            text = reason(outcome[1])
            why = explanation(name, text)
            unexplained += why is None
            print(f"{words}: {name}: {text}\n    {why or 'NOT EXPLAINED'}")
    print(
        f"{passed} of {len(cases)} tests pass, {skipped} skip themselves, {len(cases) - passed - skipped} fail, "
        f"{unexplained} of those without an explanation; the module is {options.package}, the model {options.model}"
    )
    frame.verdict("apple-python", 100 * passed / len(cases), digits=4, at_least=95)


if __name__ == "__main__":
    main()
