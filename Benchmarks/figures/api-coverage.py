"""Declarations of Apple's FoundationModels (27) that our module has, in per cent of the inventory, bar 100.

Rows whose signature needs a type that only Apple's systems have are left aside, and so are declarations that exist only to be
unavailable. Four rows are hidden from documentation in Apple's module and in ours, and symbol graphs leave them
out: those are proved by compiling a use of each.
"""

import pathlib
import tempfile

import _frame as frame
import _inventory as inventory

# Declared with @_documentation(visibility: private): the overloads through which `@Guide(.count(3))` finds its type.
HIDDEN_OWNER = "GenerationGuide"
HIDDEN = {
    ("minimumCount(_:)", "Int"): ".minimumCount(1)",
    ("maximumCount(_:)", "Int"): ".maximumCount(1)",
    ("count(_:)", "Int"): ".count(1)",
    ("count(_:)", "ClosedRange<Int>"): ".count(1...2)",
}


def hidden_use(row):
    owner, _, name = row.path.partition(".")
    if owner != HIDDEN_OWNER or row.where != "Value == [Never]":
        return None
    return HIDDEN.get((name, "; ".join(row.parameters)))


def compiles(use, flags):
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "use.swift"
        source.write_text(f"import FoundationModels\nlet guide: GenerationGuide<[Never]> = {use}\n")
        try:
            frame.run(["swiftc", "-typecheck", "-suppress-warnings", *flags, source])
        except frame.Unmeasured:
            return False
    return True


def main():
    options = frame.arguments(
        __doc__, data=frame.ROOT / "Benchmarks/figures/data/api-27.tsv", extra=frame.add_modules_option
    )
    flags = frame.module_flags(options.modules)
    with tempfile.TemporaryDirectory() as folder:
        frame.run(
            ["swift-symbolgraph-extract", "-module-name", "FoundationModels", "-minimum-access-level", "public"]
            + ["-target", frame.target_triple(), "-output-dir", folder, *flags]
        )
        graph = inventory.Graph(folder, "FoundationModels")
    rows = inventory.read(options.data)
    inventory.compare(rows, graph)

    aside = [row for row in rows if row.is_apple_only]
    unavailable = [row for row in rows if row.is_unavailable and row.state == "missing" and not row.is_apple_only]
    counted = [row for row in rows if row not in aside and row not in unavailable]
    for row in counted:
        use = hidden_use(row) if row.state == "missing" else None
        if use and compiles(use, flags):
            row.state = "hidden"
            print(f"hidden, but it compiles: {row}")
    for row in aside:
        print(f"Apple only, {'absent' if row.state == 'missing' else 'offered all the same'}: {row}")
    for row in unavailable:
        print(f"unavailable by design: {row}")
    missing = [row for row in counted if row.state == "missing"]
    for row in missing:
        print(f"missing: {row}")
    states = {state: sum(row.state == state for row in counted) for state in sorted({row.state for row in counted})}
    print(f"{len(counted)} rows: " + ", ".join(f"{count} {state}" for state, count in states.items()))
    frame.verdict("api-coverage", 100 * (len(counted) - len(missing)) / len(counted), digits=4, at_least=100)


if __name__ == "__main__":
    main()
