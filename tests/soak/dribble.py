"""`python -m tests.soak.dribble PORT SOCKETS SECONDS`: clients that send a head or a body, a byte now and then.

In a program of its own, or what it does would cost the healthy client beside it. Prints how many were cut.
"""

from __future__ import annotations

import asyncio
import random
import resource
import sys

import uvloop
from tests.soak.client import KEY, Caller

HEAD = f"POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {KEY}\r\n".encode()
BODY = HEAD + b"content-length: 1000\r\n\r\n"
EVERY = 0.5  # seconds


async def dribble(port: int, dice: random.Random, seconds: float) -> bool:
    """Until we are cut, or for so many seconds. True: cut."""
    await asyncio.sleep(dice.random() * 3)
    caller = await Caller.open(port)
    caller.send(dice.choice((HEAD, BODY)))
    end = asyncio.get_running_loop().time() + seconds
    cut = False
    while not cut and asyncio.get_running_loop().time() < end:
        try:
            async with asyncio.timeout(EVERY * (0.5 + dice.random())):
                await caller.reader.read(4096)
            cut = True
        except TimeoutError:
            caller.send(b"x")
        except ConnectionError:
            cut = True
    caller.reset()
    return cut


async def main(port: int, sockets: int, seconds: float) -> int:
    dice = random.Random(4)
    return sum(await asyncio.gather(*[dribble(port, dice, seconds) for _ in range(sockets)]))


if __name__ == "__main__":
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    print(uvloop.run(main(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]))))
