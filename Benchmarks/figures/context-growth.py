"""Time per token from 0 to 32,768 tokens of context: the greatest excess over a straight line through it, as a share, bar 0.25."""

import json
import pathlib

import _frame


def options(parser):
    parser.add_argument("--model", default="qwen2.5-coder-0.5b", help="a model's name or path (default: %(default)s)")
    parser.add_argument("--context", type=int, default=32768)
    parser.add_argument("--step", type=int, default=2048)
    parser.add_argument("--decode", type=int, default=8, help="tokens generated at each depth (default: %(default)s)")
    parser.add_argument("--plot", type=pathlib.Path, help="a file for the plot, as SVG")


given = _frame.arguments(__doc__, extra=options)
lines = _frame.measure(
    "context-growth", _frame.model(given.model), "--context", given.context, "--step", given.step,
    "--decode", given.decode, "--threads", _frame.THREADS,
).splitlines()  # fmt: skip
rows = [json.loads(line) for line in lines if line.strip()]
most = {name: max(row[name] for row in rows) for name in ("prefill", "decode")}


def bar(value, of):
    return "█" * round(20 * value / of)


print(f"{'context':>8}  {'ms/token, prefill':<42}{'ms/token, decode'}")
for row in rows:
    cells = [f"{row[name] * 1000:8.2f} {bar(row[name], most[name]):<30}" for name in ("prefill", "decode")]
    print(f"{row['depth']:>8}  {'   '.join(cells)}".rstrip())


def excess(name):
    """How far a value lies above the line of least squares through all of them, at most, as a share of the line."""
    xs, ys = [row["depth"] for row in rows], [row[name] for row in rows]
    middle_x, middle_y = sum(xs) / len(xs), sum(ys) / len(ys)
    spread = sum((x - middle_x) ** 2 for x in xs)
    slope = sum((x - middle_x) * (y - middle_y) for x, y in zip(xs, ys)) / spread if spread else 0
    return max(y / (middle_y + slope * (x - middle_x)) - 1 for x, y in zip(xs, ys))


def svg():
    width, height, margin = 720, 400, 50
    end = rows[-1]["depth"]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        f'<path d="M{margin} {margin}V{height - margin}H{width - margin}" fill="none" stroke="black"/>',
        f'<text x="{width / 2}" y="{height - 12}" text-anchor="middle">tokens of context (to {end})</text>',
    ]
    for index, (name, colour) in enumerate({"prefill": "#1f77b4", "decode": "#d62728"}.items()):
        points = " ".join(
            f"{margin + (width - 2 * margin) * row['depth'] / end:.1f},"
            f"{height - margin - (height - 2 * margin) * row[name] / most[name]:.1f}"
            for row in rows
        )
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        label = f"{name}, up to {most[name] * 1000:.1f} ms per token"
        parts.append(f'<text x="{margin + 10}" y="{margin - 24 + 16 * index}" fill="{colour}">{label}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


if given.plot:
    given.plot.write_text(svg())
    print(f"plot: {given.plot}")
found = {name: excess(name) for name in ("prefill", "decode")}
_frame.verdicts(
    ("context-growth (prefill)", found["prefill"], {"at_most": 0.25}),
    ("context-growth (decode)", found["decode"], {"at_most": 0.25}),
    ("context-growth", max(found.values()), {"at_most": 0.25}),
)
