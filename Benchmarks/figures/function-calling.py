"""Calls that 380 questions ask for, default model: right by the leaderboard's rule beside llama.cpp's server (ahead in every category), arguments valid 100 %.

The questions are those of the Berkeley Function-Calling Leaderboard, one file for each category. Both generate greedily, and a
question counts as right only when all its calls are. The peer has the same weights, its own template and its own tool parsing
(`--jinja`, tool choice "auto"). Models that write their calls as JSON in a code fence, as those of this catalogue do, make no call
for that parser; so the same answers are judged a second time with such fences read as calls (`fenced`), as a patient client would,
and ours is compared with whichever of the two gets more questions right.
"""

import collections
import concurrent.futures
import json
import pathlib
import re
import tempfile

import _bfcl as bfcl
import _frame as frame
from _server import LlamaServer

DATA = pathlib.Path(__file__).parent / "data" / "bfcl-dev"
TOKENS = 512
# Requests that the peer answers at once.
SLOTS = 4


def options(parser):
    parser.add_argument("--model", default=frame.DEFAULT_MODEL, help="a model's name or path (default: %(default)s)")
    parser.add_argument("--limit", type=int, help="only so many questions of each category, spread over it")
    parser.add_argument("--category", action="append", help="only this category; may be given again")
    parser.add_argument("--only", choices=["ours", "peer"], help="measure one side; there is no verdict then")
    parser.add_argument("--strategy", choices=["dialect", "choice"], help="how ours calls tools, for a comparison of the two")
    parser.add_argument("--keep", help="a file of answers: those that it has are not asked for again, new ones are added as they come")
    parser.add_argument("--details", help="a file to write every answer to, one line of JSON each")


def read(folder, given):
    """The questions of every category, each with its tools as JSON Schema."""
    items = []
    for path in sorted(pathlib.Path(folder).glob("*.jsonl")):
        if given.category and path.stem not in given.category:
            continue
        lines = path.read_text(encoding="utf-8").splitlines()
        count = min(given.limit or len(lines), len(lines))
        for number in range(count):
            item = json.loads(lines[number * len(lines) // count])
            item["category"] = path.stem
            item["tools"] = [
                {
                    "name": function["name"],
                    "description": function["description"],
                    "parameters": bfcl.json_schema(function["parameters"]),
                }
                for function in item["function"]
            ]
            items.append(item)
    if not items:
        raise frame.Unmeasured(f"no questions in {folder}")
    return items


class Kept:
    """Answers by side and question, in a file with one line of JSON for each; the peer takes an hour for all."""

    def __init__(self, path):
        self.file, self.answers = None, {}
        if not path:
            return
        if pathlib.Path(path).exists():
            for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines():
                kept = json.loads(line)
                self.answers[kept["side"], kept["id"]] = kept["answer"]
        self.file = open(path, "a", encoding="utf-8")

    def get(self, side, item):
        return self.answers.get((side, item["id"]))

    def add(self, side, item, answer):
        if self.file:
            print(json.dumps({"side": side, "id": item["id"], "answer": answer}, ensure_ascii=False), file=self.file, flush=True)


def ours(items, model, strategy, kept):
    """For each question the calls of one round, each (name, text of the arguments)."""
    known = [kept.get("ours", item) for item in items]
    if all(answer is not None for answer in known):
        return known
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
        for item in items:
            asked = {"id": item["id"], "messages": item["question"][0], "tools": item["tools"]}
            file.write(json.dumps(asked, ensure_ascii=False) + "\n")
        file.flush()
        lines = [line for line in frame.measure("function-calling", model, file.name, TOKENS, *strategy).splitlines() if line]
    answers = [json.loads(line) for line in lines]
    if [answer["id"] for answer in answers] != [item["id"] for item in items]:
        raise frame.Unmeasured(f"{len(answers)} answers to {len(items)} questions")
    for answer in answers:
        if "error" in answer:
            print(f"ours: {answer['id']}: {answer['error']}")
    answers = [[(c["name"], c["arguments"]) for c in a.get("calls", [])] for a in answers]
    for item, answer in zip(items, answers):
        kept.add("ours", item, answer)
    return answers


FENCE = re.compile(r"```(?:json)?\s*(.*?)```", re.S)


def fenced(text):
    """The calls that a text has in code fences, or is as a whole: objects with a name and arguments, or lists of such."""
    calls = []
    for piece in FENCE.findall(text) or [text]:
        decoder, rest = json.JSONDecoder(), piece.strip()
        # Several objects may stand behind one another.
        while rest:
            try:
                value, end = decoder.raw_decode(rest)
            except ValueError:
                break
            rest = rest[end:].lstrip(" \r\n\t,")
            for call in value if isinstance(value, list) else [value]:
                if isinstance(call, dict) and isinstance(call.get("name"), str):
                    arguments = call.get("arguments", call.get("parameters", {}))
                    calls.append((call["name"], json.dumps(arguments)))
    return calls


def peer(items, model, kept):
    """For each question the calls that the server finds, and those that a reader of code fences finds too."""

    def answer(item):
        known = kept.get("peer", item)
        if known is not None:
            return known
        found = ask(item)
        kept.add("peer", item, found)
        return found

    def ask(item):
        body = {
            "messages": item["question"][0],
            "tools": [{"type": "function", "function": tool} for tool in item["tools"]],
            "tool_choice": "auto", "parallel_tool_calls": True,
            "temperature": 0, "max_tokens": TOKENS,
        }
        try:
            message = server.post("/v1/chat/completions", body, timeout=3600)["choices"][0]["message"]
        except frame.Unmeasured as error:
            # What the server cannot parse is an answer without calls.
            print(f"peer: {item['id']}: {error}")
            return [], []
        calls = [(call["function"]["name"], call["function"]["arguments"]) for call in message.get("tool_calls") or []]
        return calls, calls or fenced(message.get("content") or "")

    with (
        LlamaServer(model, "--jinja", "-np", str(SLOTS), "--kv-unified", context=8192 * SLOTS) as server,
        concurrent.futures.ThreadPoolExecutor(SLOTS) as requests,
    ):
        return list(requests.map(answer, items))


def valid(call, item):
    """Whether arguments are JSON that the tool's schema allows."""
    import jsonschema

    name, text = call
    tool = next((tool for tool in item["tools"] if tool["name"] == name), None)
    try:
        arguments = json.loads(text)
        if tool is None or not isinstance(arguments, dict):
            return False
        jsonschema.validate(arguments, tool["parameters"], jsonschema.Draft202012Validator)
    except (ValueError, jsonschema.ValidationError):
        return False
    return True


def parsed(call):
    name, text = call
    try:
        return name, json.loads(text)
    except ValueError:
        return name, None


def judge(label, items, answers):
    """Prints the accuracy of each category. Returns the right ones by category, and the counts of valid and of all calls."""
    right, total = collections.Counter(), collections.Counter()
    good = calls_made = 0
    for item, calls in zip(items, answers):
        category = item["category"]
        total[category] += 1
        item[label] = bfcl.calls_are_right([parsed(call) for call in calls], item["ground_truth"], item["function"])
        right[category] += item[label]
        good += sum(valid(call, item) for call in calls)
        calls_made += len(calls)
    for category in total:
        share = 100 * right[category] / total[category]
        print(f"{label:6} {category:14} {right[category]:3}/{total[category]:<3} {share:5.1f} %")
    print(f"{label:6} arguments valid {good}/{calls_made}", flush=True)
    return right, good, calls_made


def main():
    given = frame.arguments(__doc__, data=DATA, extra=options)
    frame.need("jsonschema")
    items = read(given.data, given)
    model = frame.model(given.model)
    answers, kept = {}, Kept(given.keep)
    if given.only != "peer":
        answers["ours"] = ours(items, model, [given.strategy] if given.strategy else [], kept)
    if given.only != "ours":
        found = peer(items, model, kept)
        answers["peer"] = [own for own, _ in found]
        answers["fenced"] = [calls for _, calls in found]
    results = {label: judge(label, items, found) for label, found in answers.items()}
    if given.details:
        with open(given.details, "w", encoding="utf-8") as file:
            for number, item in enumerate(items):
                line = {"id": item["id"], "category": item["category"], "ground_truth": item["ground_truth"]}
                for label, given_answers in answers.items():
                    line[label] = {"right": item[label], "calls": given_answers[number]}
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
    if given.only:
        return
    categories = dict.fromkeys(item["category"] for item in items)
    mine, good, calls = results["ours"]
    better = max(("peer", "fenced"), key=lambda label: sum(results[label][0].values()))
    theirs = results[better][0]
    print(f"compared with: {better}")
    behind = [category for category in categories if mine[category] <= theirs[category]]
    if behind:
        print(f"not ahead in: {', '.join(behind)}")
    frame.verdicts(
        ("function-calling-valid", good / calls if calls else 0.0, {"at_least": 1.0}),
        ("function-calling-accuracy", sum(mine.values()) / len(items), {"at_least": sum(theirs.values()) / len(items)}),
        ("function-calling", len(categories) - len(behind), {"at_least": len(categories)}),
    )


if __name__ == "__main__":
    main()
