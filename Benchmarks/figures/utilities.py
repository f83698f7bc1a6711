"""Tests of Apple's utilities package that pass when it is compiled against our module, in per cent, bar 100.

The package is other people's and not part of this one: `--sources DIR`, or FM_UTILITIES_SOURCES, names a checkout of it. Sources and
tests are compiled as they are, but for one thing: public copies of the package were written against the fourth beta of
the framework, which had `Transcript.Segment.custom`; the release has not, and the arm of a `switch` that names it is left out (in a
copy: the checkout is not changed). What the package itself keeps to Apple's systems (`#if canImport(Darwin)`) is not run.
"""

import os
import pathlib
import re
import shutil
import tempfile

import _frame as frame

# What FoundationModels is linked from, as the build names it.
ROOMS = ["CKernels", "JSON", "Tokenizers", "Jinja", "GuidedGeneration", "Networking", "Inference", "FoundationModels"]
FEATURES = ["InternalImportsByDefault", "NonisolatedNonsendingByDefault", "MemberImportVisibility"]
BETA_ARM = re.compile(r"^ *case \.custom:\n.*?(?=^ *@unknown default:)", re.MULTILINE | re.DOTALL)
MAIN = """\
import Testing

@main struct Runner {
    static func main() async { await Testing.__swiftPMEntryPoint() as Never }
}
"""


def options_of(parser):
    frame.add_modules_option(parser)
    parser.add_argument("--sources", default=os.environ.get("FM_UTILITIES_SOURCES"), help="a checkout of the package")


def copy(checkout, folder):
    """Copies sources and tests, without what only the beta had; returns the files of both."""
    files = {}
    for name in ("Sources/FoundationModelsUtilities", "Tests/FoundationModelsUtilitiesTests"):
        if not (checkout / name).is_dir():
            raise frame.Unmeasured(f"{checkout} has no folder {name}: is it a checkout of the utilities package?")
        shutil.copytree(checkout / name, folder / name)
        files[name] = sorted((folder / name).rglob("*.swift"))
        for path in files[name]:
            text = path.read_text()
            changed = BETA_ARM.sub("", text)
            if changed != text:
                path.write_text(changed)
                print(f"{path.name}: left out the arm for Transcript.Segment.custom")
    return files.values()


def main():
    options = frame.arguments(__doc__, extra=options_of)
    if not options.sources:
        raise frame.Unmeasured(
            "no sources: check Apple's foundation-models-utilities out and name the folder with --sources or "
            "FM_UTILITIES_SOURCES"
        )
    flags = frame.module_flags(options.modules) + frame.macro_flags(options.modules)
    modules = pathlib.Path(options.modules) if options.modules else pathlib.Path(frame.build("fm")).parent / "Modules"
    rooms = [modules.resolve().parent / f"{room}.build" for room in ROOMS]
    # What is left of sources that were renamed or removed still lies there.
    objects = [
        path
        for room in rooms
        for path in sorted(room.rglob("*.o"))
        if any((frame.ROOT / "Sources" / room.stem).rglob(path.stem))
    ]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        sources, tests = copy(pathlib.Path(options.sources), folder)
        language = ["-swift-version", "6", "-suppress-warnings", "-Onone"]
        for feature in FEATURES:
            language += ["-enable-upcoming-feature", feature]
        library = folder / "libFoundationModelsUtilities.a"
        frame.run(
            ["swiftc", "-emit-library", "-static", "-emit-module", "-enable-testing", "-parse-as-library"]
            + ["-module-name", "FoundationModelsUtilities", "-o", library, *language, *flags, *sources]
            + ["-emit-module-path", folder / "FoundationModelsUtilities.swiftmodule"],
            cwd=folder,
        )
        (folder / "main.swift").write_text(MAIN)
        toolchain = pathlib.Path(shutil.which("swiftc")).resolve().parents[1]
        testing = ["-plugin-path", toolchain / "lib/swift/host/plugins/testing"]
        testing += ["-enable-experimental-feature", "SymbolLinkageMarkers"]
        # On Linux the URL types that the tests find in Foundation lie in a module of their own.
        testing += ["-Xfrontend", "-import-module", "-Xfrontend", "FoundationNetworking"]
        program = folder / "tests"
        # In a file: the list is long.
        (folder / "objects").write_text("\n".join(f'"{path}"' for path in objects))
        # The folder comes first: ours has a module of the same name.
        frame.run(
            ["swiftc", "-emit-executable", "-parse-as-library", "-module-name", "FoundationModelsUtilitiesTests"]
            + ["-o", program, *language, *testing, "-I", folder, *flags, *tests, folder / "main.swift", library]
            + [f"@{folder / 'objects'}", "-lcurl", "-lcrypto", "-lm", "-lTesting"],
            cwd=folder,
        )
        report = folder / "report.xml"
        # A failing test is a result, not a reason to stop.
        log = frame.run(
            ["bash", "-c", '"$0" --testing-library swift-testing --xunit-output "$1" 2>&1 || true', program, report]
        )
        if not report.exists():
            raise frame.Unmeasured(f"the tests ended without a report: {log[-1000:]}")
        text = report.read_text()
    cases = re.findall(r"<testcase [^>]*name=\"([^\"]*)\"[^>]*?(/>|>.*?</testcase>)", text, re.DOTALL)
    failed = [name for name, rest in cases if "<failure" in rest]
    for name in failed:
        print(f"failed: {name}")
    if not cases:
        raise frame.Unmeasured("no test ran")
    print(f"{len(cases) - len(failed)} of {len(cases)} tests pass")
    frame.verdict("utilities", 100 * (len(cases) - len(failed)) / len(cases), digits=4, at_least=100)


if __name__ == "__main__":
    main()
