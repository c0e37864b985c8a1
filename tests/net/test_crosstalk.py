"""Many requests over few connections, some cancelled, some servers hostile: each gets its own answer.

`MOONGATE_SOAK=100000 pytest tests/net/test_crosstalk.py` runs the long form.
"""

from __future__ import annotations

import asyncio
import os
import random

from tests.net.hostile import Hostile, Peer, on_both_loops, run

from moongate.errors import BadUpstream
from moongate.net.client import HttpClient
from moongate.net.deadlines import Deadlines

pytestmark = on_both_loops
REQUESTS = int(os.environ.get("MOONGATE_SOAK", "1500"))
DEADLINES = Deadlines(10, 10, 10, 10, 20)
STRAY = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nstray"


def answer(nonce: bytes, chunked: bool) -> bytes:
    if chunked:
        return b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n0\r\n\r\n" % (len(nonce), nonce)
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(nonce), nonce)


def server(dice: random.Random, *, hostile: bool) -> Hostile:
    async def script(peer: Peer) -> None:
        while True:
            nonce = (await peer.request()).partition(b"\r\n\r\n")[2]
            data = answer(nonce, dice.random() < 0.5)
            if dice.random() < 0.3:
                cut = dice.randrange(1, len(data))
                peer.writer.write(data[:cut])
                await asyncio.sleep(dice.random() * 0.002)
                data = data[cut:]
            if hostile and dice.random() < 0.3:
                data += STRAY[: dice.choice((1, 20, len(STRAY)))]
            peer.writer.write(data)
            if dice.random() < 0.05:
                return  # closes without having said so

    return Hostile(script)


async def ask(client: HttpClient, number: int, dice: random.Random, seen: list[bool]) -> None:
    nonce = b"nonce-%d-%d" % (number, dice.randrange(1 << 60))
    try:
        response = await client.send("POST", "/", [], nonce, deadlines=DEADLINES)
        seen.append(await response.read(1000) == nonce)
    except BadUpstream:
        pass  # cut, and reported as such


async def storm(place: Hostile, dice: random.Random, seen: list[bool]) -> None:
    client = HttpClient(place.origin, connections=10)
    for start in range(0, REQUESTS, 50):
        tasks = [asyncio.create_task(ask(client, start + n, dice, seen)) for n in range(50)]
        for task in tasks:
            if dice.random() < 0.3:
                asyncio.get_running_loop().call_later(dice.random() * 0.01, task.cancel)
        await asyncio.gather(*tasks, return_exceptions=True)
    client.close()


def test_every_answer_is_its_own(loop: str) -> None:
    async def main() -> None:
        dice = random.Random(7)
        seen: list[bool] = []
        async with server(dice, hostile=False) as good, server(dice, hostile=True) as bad:
            await asyncio.gather(storm(good, dice, seen), storm(bad, dice, seen))
        assert all(seen)
        assert len(seen) > REQUESTS  # of twice as many: most were neither cancelled nor cut

    run(loop, main(), seconds=60 + REQUESTS / 50)
