"""`python -m tests.soak.slow_sender PORT SOCKETS SECONDS`: clients that send a request byte by byte.

A separate program, so that its load does not slow down the healthy client. Prints how many connections were closed.
"""

from __future__ import annotations

import asyncio
import random
import resource
import sys

import uvloop
from tests.soak.client import KEY, RawClient

HEAD = f"POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {KEY}\r\n".encode()
BODY = HEAD + b"content-length: 1000\r\n\r\n"
EVERY = 0.5  # seconds


async def send_slowly(port: int, rng: random.Random, seconds: float) -> bool:
    """Send until the gateway closes the connection (True), or for `seconds` (False)."""
    await asyncio.sleep(rng.random() * 3)
    client = await RawClient.open(port)
    client.send(rng.choice((HEAD, BODY)))
    end = asyncio.get_running_loop().time() + seconds
    cut = False
    while not cut and asyncio.get_running_loop().time() < end:
        try:
            async with asyncio.timeout(EVERY * (0.5 + rng.random())):
                await client.reader.read(4096)
            cut = True
        except TimeoutError:
            client.send(b"x")
        except ConnectionError:
            cut = True
    client.reset()
    return cut


async def main(port: int, sockets: int, seconds: float) -> int:
    rng = random.Random(4)
    return sum(await asyncio.gather(*[send_slowly(port, rng, seconds) for _ in range(sockets)]))


if __name__ == "__main__":
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    print(uvloop.run(main(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]))))
