"""Public programs for Apple's framework that type-check against our module, unmodified, in per cent, bar 95.

A group is the sources of one target or one file; counted are the groups of `data/client-programs.json` that are right Swift for the
27 API and import nothing but portable modules (a few import modules of Apple's that they hardly use: `data/client-stand-ins/` has
empty ones). The sources are other people's and not part of this package: `--sources DIR`, or FM_CLIENT_SOURCES, names a folder
with one folder OWNER+NAME per repository, each at the commit that the list gives.
"""

import collections
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import _frame as frame

DATA = frame.ROOT / "Benchmarks/figures/data"


def options_of(parser):
    frame.add_modules_option(parser)
    parser.add_argument("--sources", default=os.environ.get("FM_CLIENT_SOURCES"), help="the folder of the sources")
    parser.add_argument("--only", help="only groups whose name matches this regular expression")


def read_groups(path, sources, only):
    groups = [group for group in json.loads(pathlib.Path(path).read_text()) if "release" in group["fits"]]
    if only:
        groups = [group for group in groups if re.search(only, group["id"])]
    if not sources:
        raise frame.Unmeasured("no sources: name their folder with --sources or FM_CLIENT_SOURCES (see --help)")
    missing = collections.Counter()
    for group in groups:
        files = [*group["files"], *(file for module in group["deps"] for file in module["files"])]
        if not all((pathlib.Path(sources) / group["repo"] / file).is_file() for file in files):
            missing[f"{group['repo']} at {group['commit']}"] += 1
    if missing:
        raise frame.Unmeasured("sources are missing: " + ", ".join(sorted(missing)))
    return groups


def build_stand_ins(folder):
    """Builds the stand-ins for modules of Apple's, and the macros of one of them; returns the flags that bring them in."""
    host = pathlib.Path(shutil.which("swiftc")).resolve().parents[1] / "lib/swift/host"
    sources = DATA / "client-stand-ins"
    library = folder / "libStandInMacros.so"
    frame.run(
        ["swiftc", "-emit-library", "-module-name", "StandInMacros", "-parse-as-library", "-I", host, "-L", host]
        + ["-lSwiftSyntax", "-lSwiftSyntaxMacros", "-lSwiftSyntaxBuilder", "-Xlinker", "-rpath", "-Xlinker", host]
        + ["-o", library, sources / "StandInMacros.swift"]
    )
    plugin = ["-load-plugin-library", str(library)]
    # OSLog imports os.
    for source in sorted(sources.glob("*.swift"), key=lambda path: (path.stem != "os", path.stem)):
        if source.stem != "StandInMacros":
            frame.run(
                ["swiftc", "-emit-module", "-module-name", source.stem, "-parse-as-library", "-I", folder, *plugin]
                + ["-emit-module-path", folder / f"{source.stem}.swiftmodule", source]
            )
    return ["-I", str(folder), *plugin]


def check(group, sources, flags):
    """The errors of a group; none when it type-checks."""
    root = pathlib.Path(sources) / group["repo"]

    def compile(*command, files):
        paths = [str(root / file) for file in files]
        library = [] if any(pathlib.Path(file).name == "main.swift" for file in files) else ["-parse-as-library"]
        done = subprocess.run(
            ["swiftc", *command, *library, *flags, *paths],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=600,
        )
        if done.returncode == 0:
            return []
        found = re.findall(r"^(?:/.*/)?(\S+?\.swift:\d+):\d+: error: (.*)", done.stderr, re.MULTILINE)
        return [f"{place}: {text}" for place, text in found] or [done.stderr.strip()[-300:] or "no reason given"]

    with tempfile.TemporaryDirectory() as folder:
        for module in group["deps"]:
            errors = compile(
                *["-emit-module", "-enable-testing", "-module-name", module["name"], "-I", folder, *module["flags"]],
                *["-emit-module-path", f"{folder}/{module['name']}.swiftmodule"],
                files=module["files"],
            )
            if errors:
                return errors
        return compile(
            *["-typecheck", "-module-name", group["module"], "-I", folder, "-swift-version", group["version"]],
            *group["flags"],
            files=group["files"],
        )


def main():
    options = frame.arguments(__doc__, data=DATA / "client-programs.json", extra=options_of)
    groups = read_groups(options.data, options.sources, options.only)
    with tempfile.TemporaryDirectory() as folder:
        flags = ["-diagnostic-style=llvm", "-suppress-warnings", "-package-name", "clients"]
        # On Linux the URL types that these programs find in Foundation lie in a module of their own.
        flags += ["-Xfrontend", "-import-module", "-Xfrontend", "FoundationNetworking"]
        flags += build_stand_ins(pathlib.Path(folder))
        flags += frame.module_flags(options.modules) + frame.macro_flags(options.modules)
        good = 0
        with concurrent.futures.ThreadPoolExecutor(frame.THREADS) as pool:
            outcomes = pool.map(lambda group: check(group, options.sources, flags), groups)
            for group, errors in zip(groups, outcomes):
                good += not errors
                for error in errors[:3]:
                    print(f"{group['id']}: {error}", flush=True)
    files = len({(group["repo"], file) for group in groups for file in group["files"]})
    print(f"{good} of {len(groups)} groups, {files} files, type-check")
    frame.verdict("client-programs", 100 * good / len(groups), digits=4, at_least=95)


if __name__ == "__main__":
    main()
