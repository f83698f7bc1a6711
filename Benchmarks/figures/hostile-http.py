"""Hostile requests (malformed, oversized, slow, half-closed, wrong headers, fuzzed) that `fm serve` handles properly, of
10,000; bar: all. A proper end is an answer whose status fits and, for an error, whose body is JSON that says what is wrong, or
the end of the connection where nobody waits for an answer; the server must live on, answer a good request afterwards, and keep
no memory, descriptor or place of the bad ones.
"""

import collections
import concurrent.futures
import json
import random
import re
import socket
import struct
import time

import _clients as clients
import _frame as frame

options = frame.arguments(
    __doc__,
    extra=lambda parser: (
        parser.add_argument("--count", type=int, default=10_000),
        parser.add_argument("--seed", type=int, default=1),
        parser.add_argument("--model", default="smollm2-135m"),
    ),
)

BODY = {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 2}
PATHS = ["/v1/chat/completions", "/v1/completions", "/v1/embeddings", "/tokenize", "/v1/models", "/health", "/metrics", "/",
         "/v1/nothing"]
LIMIT = 1 << 20


def request(
    path="/v1/chat/completions", body=None, method="POST", headers=(), host="localhost", version="HTTP/1.1", keep=False
):
    body = json.dumps(BODY).encode() if body is None else body
    lines = [f"{method} {path} {version}"]
    if host is not None:
        lines.append(f"Host: {host}")
    names = {name.lower() for name, _ in headers}
    if "content-type" not in names:
        lines.append("Content-Type: application/json")
    if "content-length" not in names and "transfer-encoding" not in names:
        lines.append(f"Content-Length: {len(body)}")
    lines += [f"{name}: {value}" for name, value in headers]
    if not keep:
        lines.append("Connection: close")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace") + body


class Exchange:
    """One connection: what is sent, and what comes back."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)

    def send(self, data):
        try:
            self.socket.sendall(data)
        except OSError:
            pass  # The server may have ended it; what it said before can still be read.

    def half_close(self):
        try:
            self.socket.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def reset(self):
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def statuses(self, half_closes=False):
        """The statuses of all answers until the server ends the connection; an error that does not come as one head and one
        object of JSON that says what is wrong is "no error". `half_closes`: nothing more will be sent, which the server otherwise
        would wait for."""
        data = b""
        if half_closes:
            self.half_close()
        try:
            while chunk := self.socket.recv(65536):
                data += chunk
        except TimeoutError:
            return ["timeout"]
        except OSError:
            pass
        self.socket.close()
        heads = list(re.finditer(rb"^HTTP/1\.1 (\d+) ", data, re.MULTILINE))
        statuses = [int(head[1]) for head in heads]
        if statuses and statuses[-1] >= 400:
            try:
                body = json.loads(data[heads[-1].start() :].split(b"\r\n\r\n", 1)[1])
                assert len(statuses) == 1 and body["error"]["message"]
            except (ValueError, LookupError, TypeError, AssertionError):
                statuses.append("no error")
        return statuses


# Each kind is a function of (random numbers, port) and returns (statuses, allowed). None among the allowed: that the
# connection ends without an answer is proper too.

def sent(port, data, *allowed, half_closes=False):
    exchange = Exchange(port)
    exchange.send(data)
    return exchange.statuses(half_closes), allowed


def garbage(rng, port):
    return sent(port, rng.randbytes(rng.randrange(1, 400)) + b"\r\n\r\n", 400, 403, 404, 405, 414, 431, 501, 505,
                half_closes=True)


def broken_json(rng, port):
    text = bytearray(json.dumps(BODY).encode())
    for _ in range(rng.randrange(1, 4)):
        text[rng.randrange(len(text))] = rng.randrange(256)
    # A change may leave it right, and then it is answered.
    return sent(port, request(body=bytes(text)), 400, 200)


def cut_json(rng, port):
    text = json.dumps(BODY).encode()
    return sent(port, request(body=text[: rng.randrange(len(text))]), 400)


def wrong_types(rng, port):
    value = rng.choice([None, True, -1, 1e308, "x" * 100, [], {}, [[[]]], {"a": {"b": 1}}, 10**30, "\ud800", "\0"])
    key = rng.choice(["messages", "temperature", "n", "stop", "tools", "tool_choice", "response_format", "seed", "stream",
                      "max_tokens", "logprobs", "stream_options", "model", "x" * rng.randrange(1, 99)])
    return sent(port, request(body=json.dumps({**BODY, key: value}).encode()), 200, 400, 404)


def deep_json(rng, port):
    depth = rng.randrange(100, 50_000)
    opening = rng.choice(["[", '{"a":', '[{"a":'])
    return sent(port, request(body=(opening * depth).encode()[: LIMIT - 1]), 400)


def hostile_schema(rng, port):
    schema = rng.choice([
        {"$ref": "#"}, {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}, {"type": "string", "pattern": "(a*)*b("},
        {"type": "string", "pattern": "(" * 2000}, {"type": "string", "minLength": 10**9}, {"type": "array", "minItems": -1},
        {"enum": []}, {"not": {}}, {"type": "integer", "minimum": 10**400}, {"type": 5}, [], "x",
        {"type": "string", "pattern": "a{1000000}"}, {"allOf": [{"type": "string"}, {"type": "number"}]},
        {"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:1/x"}}},
    ])
    form = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}
    return sent(port, request(body=json.dumps({**BODY, "response_format": form}).encode()), 200, 400)


def oversized_body(rng, port):
    return sent(port, request(body=b"", headers=[("Content-Length", LIMIT + 1 + rng.randrange(10**12))]), 413)


def oversized_chunks(rng, port):
    data = request(body=b"", headers=[("Transfer-Encoding", "chunked")])
    piece = b"10000\r\n" + b" " * 65536 + b"\r\n"
    return sent(port, data + piece * (LIMIT // 65536 + rng.randrange(1, 40)) + b"0\r\n\r\n", 413)


def bad_chunks(rng, port):
    data = request(body=b"", headers=[("Transfer-Encoding", "chunked")])
    ends = [b"zz\r\nabc\r\n", b"-5\r\n", b"ffffffffffffffffff\r\n", b"5\r\nab", b"5;x=" + b"y" * 60000, b"\r\n\r\n"]
    return sent(port, data + rng.choice(ends), 400, 413, half_closes=True)


def wrong_length(rng, port):
    value = rng.choice(["-1", "abc", "99999999999999999999", "1e3", "0x10", "5, 6", "", "+5", " 5 5"])
    return sent(port, request(headers=[("Content-Length", value)]), 400, 413, half_closes=True)


def two_lengths(rng, port):
    headers = [("Content-Length", "5"), rng.choice([("Content-Length", "50"), ("Transfer-Encoding", "chunked")])]
    return sent(port, request(headers=headers), 400, 413, half_closes=True)


def wrong_host(rng, port):
    host = rng.choice([None, "", "evil.example", "localhost.evil", "127.0.0.1@evil", "localhost:abc", "a" * 5000, "\xff"])
    return sent(port, request(rng.choice(PATHS), host=host, method="GET", body=b""), 400, 403)


def wrong_origin(rng, port):
    origin = rng.choice(["http://evil.example", "null", "", "http://localhost.evil", "file://", "http://localhost:1"])
    return sent(port, request(headers=[("Origin", origin)]), 403)


def wrong_method(rng, port):
    method = rng.choice(["PUT", "DELETE", "PATCH", "TRACE", "BREW", "post", "G" * 500, "CONNECT"])
    return sent(port, request(rng.choice(PATHS), method=method, body=b""), 400, 404, 405, 501)


def wrong_type(rng, port):
    value = rng.choice(["text/plain", "multipart/form-data; boundary=x", "application/x-www-form-urlencoded", "", "x" * 999])
    return sent(port, request(headers=[("Content-Type", value)]), 415)


def wrong_path(rng, port):
    path = rng.choice(["/../../etc/passwd", "/%2e%2e/", "/v1/" + "x" * rng.randrange(1, 20_000), "//", "/v1/models/%00",
                       "*", "http://evil.example/", "/\xe9", "/v1/models/" + "%41" * 3000])
    return sent(port, request(path, method="GET", body=b""), 400, 403, 404, 405, 414, 431)


def huge_headers(rng, port):
    headers = [(f"X-{i}", "y" * rng.randrange(1000)) for i in range(rng.randrange(50, 500))]
    return sent(port, request("/health", method="GET", body=b"", headers=headers), 200, 400, 413, 431)


def bad_header_lines(rng, port):
    line = rng.choice([b"NoColon\r\n", b": empty\r\n", b"A\0B: c\r\n", b" folded: x\r\n", b"X:" + b"\x80" * 99 + b"\r\n",
                       b"X: a\rb\r\n", b"\n\n\n"])
    data = request("/health", method="GET", body=b"")
    return sent(
        port, data.replace(b"Content-Type", line + b"Content-Type", 1), 200, 400, 403, 415, half_closes=True)


def half_closed(rng, port):
    data = request()
    exchange = Exchange(port)
    # A whole request whose sender has closed its side is one that nobody waits for.
    exchange.send(data[: rng.randrange(len(data) + 1)])
    return exchange.statuses(half_closes=True), (400, 408, None)


def gone_at_once(rng, port):
    exchange = Exchange(port)
    body = json.dumps({**BODY, "max_tokens": 500, "stream": rng.random() < 0.5}).encode()
    exchange.send(request(body=body))
    exchange.reset()
    return [], (None,)


def slow(rng, port):
    # The first part, and then nothing: the server ends the wait by itself.
    exchange = Exchange(port)
    data = request()
    exchange.send(data[: rng.randrange(1, len(data) - 1)])
    exchange.socket.settimeout(60)
    try:
        answer = exchange.socket.recv(1000)
    except TimeoutError:
        return ["timeout"], (None,)
    except OSError:
        answer = b""
    exchange.socket.close()
    return ([int(answer.split()[1])] if answer else []), (400, 408, None)


def pipelined(rng, port):
    count = rng.randrange(2, 6)
    data = request("/health", method="GET", body=b"", keep=True) * (count - 1)
    statuses, _ = sent(port, data + request("/health", method="GET", body=b""))
    return statuses, (200,) if statuses else (None,)


def old_version(rng, port):
    version = rng.choice(["HTTP/1.0", "HTTP/0.9", "HTTP/2.0", "HTTP/9.9", "HTP/1.1", "", "http/1.1"])
    return sent(port, request("/health", method="GET", body=b"", version=version), 200, 400, 505, half_closes=True)


KINDS = [garbage, broken_json, cut_json, wrong_types, deep_json, hostile_schema, oversized_body, oversized_chunks, bad_chunks,
         wrong_length, two_lengths, wrong_host, wrong_origin, wrong_method, wrong_type, wrong_path, huge_headers,
         bad_header_lines, half_closed, gone_at_once, pipelined, old_version]


def is_slow(number):
    """One in five hundred is slow: each holds a connection for as long as the server waits."""
    return number % 500 == 250


# Seconds and requests of each kind, to tell which ones take the time.
spent = collections.defaultdict(lambda: [0.0, 0])


def run(number, port):
    start = time.monotonic()
    name, fault = judge(number, port)
    spent[name][0] += time.monotonic() - start
    spent[name][1] += 1
    return name, fault


def judge(number, port):
    kind = slow if is_slow(number) else KINDS[number % len(KINDS)]
    rng = random.Random(options.seed * 1_000_003 + number)
    try:
        statuses, allowed = kind(rng, port)
    except OSError as error:
        return kind.__name__, f"{type(error).__name__}: {error}"
    wrong = [status for status in statuses if status not in allowed]
    if not statuses and None not in allowed:
        wrong = ["no answer"]
    return (kind.__name__, None) if not wrong else (kind.__name__, f"request {number}: {wrong}, allowed {allowed}")


def good(server):
    exchange = Exchange(server.port)
    exchange.send(request(body=json.dumps(BODY).encode()))
    answer = b""
    while b"finish_reason" not in answer and (chunk := exchange.socket.recv(65536)):
        answer += chunk
    exchange.socket.close()
    return b"HTTP/1.1 200" in answer


with clients.Serve(frame.model(options.model), "--context", "2048", "--max-body", str(LIMIT)) as server:
    # What grows once for all grows here: stacks, caches, compiled schemas, and what the allocator keeps for each thread,
    # which takes some thousand requests. A leak goes on growing afterwards.
    end = options.count + max(500, options.count // 4)
    warm_up = [number for number in range(options.count, end) if not is_slow(number)]
    with concurrent.futures.ThreadPoolExecutor(48) as pool:
        list(pool.map(lambda number: run(number, server.port), warm_up))
    server.wait_idle()
    memory, descriptors = server.memory, server.descriptors
    spent.clear()
    faults = []
    numbers = range(options.count)
    start = time.monotonic()
    # Those that wait have threads of their own, so that the others need not wait for them.
    with concurrent.futures.ThreadPoolExecutor(16) as pool, concurrent.futures.ThreadPoolExecutor(32) as slow_pool:
        futures = [(slow_pool if is_slow(number) else pool).submit(run, number, server.port) for number in numbers]
        for future in futures:
            name, fault = future.result()
            if fault:
                faults.append(fault)
                print(f"{name}: {fault}", flush=True)
    print(f"{options.count} requests in {time.monotonic() - start:.0f} s; the slowest kinds, seconds of a request each:")
    for name, (seconds, count) in sorted(spent.items(), key=lambda item: -item[1][0])[:6]:
        print(f"  {name}: {seconds / count:.3f} ({count} requests)", flush=True)
    checks = {
        "the server is alive": server.is_alive,
        "no place is lost": server.is_alive and server.wait_idle(),
        "a good request is answered": server.is_alive and good(server),
    }
    if server.is_alive:
        growth = server.memory - memory
        print(f"memory grew by {growth / 2**20:.1f} MiB, descriptors by {server.descriptors - descriptors}", flush=True)
        checks["memory is flat"] = growth < 64 << 20
        checks["no descriptor is lost"] = server.descriptors <= descriptors + 4
    for name, holds in checks.items():
        if not holds:
            print(f"FAILED: {name}")

good_count = options.count - len(faults) if all(checks.values()) else 0
frame.verdict("hostile-http", good_count, at_least=options.count)
