"""Milliseconds from a server-sent event to its snapshot, the slowest of all, bar 100; and one snapshot for each event.

A server on the loopback sends an event every 150 ms. A snapshot counts when it has the text of its event, comes alone, and comes
before the next event is sent: an answer that is collected first and given afterwards counts for nothing.
"""

import http.server
import json
import statistics
import threading
import time

import _frame as frame

PAUSE = 0.15


def serve(count, sent):
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            for number in range(count):
                chunk = {"choices": [{"delta": {"content": "x"}}]}
                sent.append(time.time())
                self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
                self.wfile.flush()
                time.sleep(PAUSE)
            sent.append(time.time())
            self.wfile.write(b"data: [DONE]\n\n")

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def main():
    options = frame.arguments(
        __doc__, extra=lambda parser: parser.add_argument("--events", type=int, default=40, help="how many are sent")
    )
    sent = []
    server = serve(options.events, sent)
    try:
        arrivals = frame.measure_json("stream-arrivals", f"http://127.0.0.1:{server.server_port}", "m", timeout=120)
    finally:
        server.shutdown()
    by_length = {}
    for arrival in arrivals:
        by_length.setdefault(int(arrival["characters"]), []).append(arrival["time"])
    in_time, delays = 0, []
    for number in range(options.events):
        times = by_length.get(number + 1, [])
        if times:
            delays.append(1000 * (times[0] - sent[number]))
        in_time += len(times) == 1 and times[0] < sent[number + 1]
    if not delays:
        raise frame.Unmeasured("no snapshot came")
    print(
        f"{options.events} events, {len(arrivals)} snapshots, {in_time} in time; "
        f"delay {statistics.median(delays):.2f} ms in the middle, {max(delays):.2f} ms at most"
    )
    frame.verdicts(
        ("stream-latency-snapshots-per-event", in_time / options.events, {"at_least": 1}),
        ("stream-latency", max(delays), {"at_most": 100}),
    )


if __name__ == "__main__":
    main()
