"""A load on a Chat Completions server: requests of mixed lengths, many at a time, some cancelled at random moments."""

import asyncio
import dataclasses
import json
import random
import time


@dataclasses.dataclass
class Result:
    cancelled: bool = False
    complete: bool = False
    error: str = ""
    tokens: int = 0
    first: float = 0.0
    duration: float = 0.0


async def stream(port, body, cancel_after=None, host="127.0.0.1"):
    """One request whose answer streams. `cancel_after`: seconds after which the connection is closed."""
    result = Result()
    start = time.monotonic()
    reader, writer = await asyncio.open_connection(host, port)
    try:
        data = json.dumps(body).encode()
        head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost:{port}\r\nContent-Type: application/json\r\n"
        writer.write(f"{head}Content-Length: {len(data)}\r\nConnection: close\r\n\r\n".encode() + data)
        await writer.drain()

        async def read():
            status = await reader.readline()
            if b" 200 " not in status:
                result.error = status.decode().strip()
                return
            async for line in reader:
                if not line.startswith(b"data: "):
                    continue
                if line.strip() == b"data: [DONE]":
                    result.complete = not result.error
                    return
                event = json.loads(line[6:])
                if "error" in event:
                    result.error = event["error"]["message"]
                    return
                for choice in event["choices"]:
                    if choice.get("delta", {}).get("content"):
                        result.first = result.first or time.monotonic() - start
                if event.get("usage"):
                    result.tokens = event["usage"]["completion_tokens"]
            result.error = result.error or "the stream ended without [DONE]"

        try:
            await asyncio.wait_for(read(), cancel_after)
        except TimeoutError:
            result.cancelled = True
    except (OSError, asyncio.IncompleteReadError) as error:
        result.error = f"{type(error).__name__}: {error}"
    finally:
        writer.close()
    result.duration = time.monotonic() - start
    return result


TOPICS = ["rivers", "bread", "the moon", "chess", "glass", "bees", "paper", "salt", "bridges", "clocks"]


def requests(count, seed, *, longest=64):
    """Bodies of mixed lengths; the same ones for every server."""
    rng = random.Random(seed)
    for number in range(count):
        words = " ".join(rng.choice(TOPICS) for _ in range(rng.choice([2, 10, 40, 120])))
        yield {
            "messages": [
                {"role": "system", "content": "You are a helpful writer."},
                {"role": "user", "content": f"Number {number}. Write a long text about {words}."},
            ],
            "max_tokens": rng.choice([longest // 4, longest // 2, longest]), "temperature": 0, "stream": True,
            "stream_options": {"include_usage": True},
        }


def run(port, bodies, *, at_once, cancelled=0.0, seed=1):
    """Sends all bodies, so many at once; a share of them is cancelled at a random moment. Returns (results, seconds)."""
    rng = random.Random(seed)
    bodies = [(body, rng.uniform(0.05, 4.0) if rng.random() < cancelled else None) for body in bodies]

    async def main():
        gate = asyncio.Semaphore(at_once)

        async def one(body, after):
            async with gate:
                return await stream(port, body, after)

        return await asyncio.gather(*(one(body, after) for body, after in bodies))

    start = time.monotonic()
    results = asyncio.run(main())
    return results, time.monotonic() - start


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))] if values else float("nan")
