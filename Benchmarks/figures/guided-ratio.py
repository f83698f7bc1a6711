"""Time of 30 guided answers against llama.cpp with the same schemas (<= 0.5) and our own free decoding of as many tokens (<= 0.6).

Both engines get the same prompt tokens (the model's chat template around the prompt of the data file) and the same schema,
decode greedily on two threads, and start every answer with an empty cache. What is timed is the whole answer, the prompt included.
Our free decoding makes as many tokens as the guided answer has, behind the same prompt. The runs are interleaved; the
figure is the sum over the schemas of the medians of the rounds.
"""

import json
import pathlib
import statistics
import subprocess
import time

import _frame as frame
import _server as server

DATA = pathlib.Path(__file__).parent / "data" / "guided-schemas.jsonl"
# What a schema leaves open without end (a string) must end here on both sides.
MOST_TOKENS = 400


class Ours:
    """A process that keeps the model loaded and answers one request a line."""

    def __init__(self, model):
        self.process = subprocess.Popen(
            [frame.build("measure"), "guided", model], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __call__(self, **request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise frame.Unmeasured("the measurement ended early")
        answer = json.loads(line)
        if "error" in answer:
            raise frame.Unmeasured(f"{request.get('prompt', '')!r}: {answer['error']}")
        return answer

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def main():
    options = frame.arguments(
        __doc__,
        data=DATA,
        extra=lambda parser: (
            parser.add_argument("--model", default=frame.DEFAULT_MODEL),
            parser.add_argument("--rounds", type=int, default=3),
        ),
    )
    cases = [json.loads(line) for line in open(options.data, encoding="utf-8")]
    model = frame.model(options.model)
    ours = Ours(model)
    totals = {"guided": 0.0, "free": 0.0, "peer": 0.0}
    ratios = []
    tokens = {"guided": 0, "forced": 0, "peer": 0}
    with server.LlamaServer(model) as peer:
        for case in cases:
            rendered = ours(mode="render", prompt=case["prompt"])["text"]
            times = {"guided": [], "free": [], "peer": []}
            for _ in range(options.rounds):
                guided = ours(mode="guided", prompt=case["prompt"], schema=case["schema"], tokens=MOST_TOKENS)
                times["guided"].append(guided["seconds"])
                start = time.perf_counter()
                theirs = peer.post(
                    "/completion",
                    {
                        "prompt": rendered,
                        "json_schema": case["schema"],
                        "temperature": 0,
                        "n_predict": MOST_TOKENS,
                        "cache_prompt": False,
                    },
                )
                times["peer"].append(time.perf_counter() - start)
                free = ours(mode="free", prompt=case["prompt"], tokens=guided["tokens"])
                times["free"].append(free["seconds"])
            medians = {key: statistics.median(value) for key, value in times.items()}
            for key, value in medians.items():
                totals[key] += value
            ratios.append(medians["guided"] / medians["peer"])
            tokens["guided"] += guided["tokens"]
            tokens["forced"] += guided["forced"]
            tokens["peer"] += theirs["tokens_predicted"]
            print(
                f"{case['name']:12} guided {medians['guided']:.2f} s ({guided['tokens']} tokens, {guided['forced']} forced), "
                f"peer {medians['peer']:.2f} s ({theirs['tokens_predicted']} tokens), free {medians['free']:.2f} s",
                flush=True,
            )
    ours.close()
    print(f"tokens: ours {tokens['guided']}, of them forced {tokens['forced']}; peer {tokens['peer']}")
    print(f"per schema against the peer: median {statistics.median(ratios):.3f}, worst {max(ratios):.3f}")
    frame.verdicts(
        ("guided-ratio-free", totals["guided"] / totals["free"], {"at_most": 0.6}),
        ("guided-ratio", totals["guided"] / totals["peer"], {"at_most": 0.5}),
    )


if __name__ == "__main__":
    main()
