"""Mixed load for a bounded time, smallest model: memory at the end over memory after a quarter of the time, bar 1.05."""

import _frame


def options(parser):
    parser.add_argument("--model", default="smollm2-135m", help="a model's name or path (default: %(default)s)")
    parser.add_argument("--seconds", type=int, default=120, help="how long; an hour is 3600 (default: %(default)s)")


given = _frame.arguments(__doc__, extra=options)
found = _frame.measure_json("soak", _frame.model(given.model), "--seconds", given.seconds)
print(
    f"{found['seconds']:.0f} s, {found['requests']} requests, {found['cancelled']} of them cancelled, {found['tokens']} tokens; "
    f"memory {found['early'] / 1e6:.0f} MB early, {found['late'] / 1e6:.0f} MB late, {found['peak'] / 1e6:.0f} MB at most"
)
_frame.verdict("soak", found["late"] / found["early"], at_most=1.05)
