"""Fields read rightly from 60 texts in four languages, guided against unguided and parsed (guided never worse).

Each text is given with its schema: once the schema binds the decoder, once it only stands in the prompt and the first JSON
object of the answer is read; where a model repeats the schema with values in the places of the properties, those count. A field
is right when it equals the expected one (strings without regard to case and outer white space, phone numbers by their digits).
"""

import collections
import json
import pathlib
import tempfile

import _frame as frame

DATA = pathlib.Path(__file__).parent / "data" / "extraction.jsonl"


def first_object(text):
    """The first JSON object of a text; nothing when there is none."""
    decoder = json.JSONDecoder()
    start = text.find("{")
    while start >= 0:
        try:
            value, _ = decoder.raw_decode(text, start)
            if isinstance(value, dict):
                inner = value.get("properties")
                return inner if isinstance(inner, dict) else value
        except json.JSONDecodeError:
            pass
        start = text.find("{", start + 1)
    return {}


def same(key, expected, found):
    if isinstance(expected, bool) or isinstance(found, bool):
        return expected is found
    if isinstance(expected, str):
        if not isinstance(found, str):
            return False
        if key == "phone":
            return [c for c in expected if c.isdigit()] == [c for c in found if c.isdigit()]
        return expected.strip().casefold() == found.strip().casefold()
    return isinstance(found, (int, float)) and expected == found


def main():
    def extra(parser):
        parser.add_argument("--model", default=frame.DEFAULT_MODEL)
        parser.add_argument("--every", type=int, default=1, help="take every so many texts (default: %(default)s)")

    options = frame.arguments(
        __doc__, data=DATA, extra=extra
    )
    cases = [json.loads(line) for line in open(options.data, encoding="utf-8")][:: options.every]
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
        file.write("".join(json.dumps(case, ensure_ascii=False) + "\n" for case in cases))
        file.flush()
        output = frame.measure("extraction", frame.model(options.model), file.name)
    answers = [json.loads(line) for line in output.splitlines() if line.strip()]
    if len(answers) != len(cases):
        raise frame.Unmeasured(f"{len(answers)} answers to {len(cases)} texts")
    right = {"guided": collections.Counter(), "free": collections.Counter()}
    fields = collections.Counter()
    whole = collections.Counter()
    for case, answer in zip(cases, answers):
        guided = json.loads(answer["guided"])
        free = first_object(answer["free"])
        for way, found in (("guided", guided), ("free", free)):
            hits = [key for key, value in case["expected"].items() if same(key, value, found.get(key))]
            whole[way] += len(hits) == len(case["expected"])
            for group in (case["language"], case["kind"], "all"):
                right[way][group] += len(hits)
        for group in (case["language"], case["kind"], "all"):
            fields[group] += len(case["expected"])
    for group in sorted(fields):
        g, f, n = right["guided"][group], right["free"][group], fields[group]
        print(f"{group:8} guided {g}/{n} ({100 * g / n:.0f} %), unguided {f}/{n} ({100 * f / n:.0f} %)")
    print(f"texts wholly right: guided {whole['guided']}, unguided {whole['free']} of {len(cases)}")
    worse = [group for group in ("en", "de", "ru", "bg", "all") if right["guided"][group] < right["free"][group]]
    if worse:
        print(f"guided is worse for: {', '.join(worse)}")
    frame.verdict("extraction", right["guided"]["all"] / fields["all"], at_least=right["free"]["all"] / fields["all"])


if __name__ == "__main__":
    main()
