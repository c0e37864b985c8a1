"""Clients of a fleet: they ask again and again through nginx, and remember what they saw and when."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from tests.soak.billing_clients import ANSWER_TOKENS, Sent
from tests.soak.client import CHAT
from tests.soak.report import percentile

TIMEOUT = 60.0
PAUSE = 0.1  # seconds after an answer that is no answer
OUTCOMES = ("answered", "limited", "unavailable", "cut")
_GATEWAY = re.compile(rb"\r\nx-gateway: ([^\r]+)\r\n", re.I)


@dataclass(frozen=True, slots=True)
class Seen:
    """One request: when it began and ended (monotonic), how it ended, and which gateway had it ("": nobody knows)."""

    began: float
    ended: float
    outcome: str
    gateway: str
    group: str
    id: str


@dataclass(frozen=True, slots=True)
class Group:
    """Clients that do the same: the text of their key, the model, how many they are."""

    name: str
    key: str
    key_id: str
    model: str
    clients: int


class Load:
    """`start`, `stop`; then `seen` and `sent`."""

    def __init__(self, port: int, groups: list[Group], name_of: Callable[[str], str]) -> None:
        self._port, self._groups, self._name_of = port, groups, name_of
        self._tasks: list[asyncio.Task[None]] = []
        self._over = False
        self._count = 0
        self.seen: list[Seen] = []
        self.sent: list[Sent] = []

    @property
    def refused(self) -> int:
        """How many requests a limit has refused so far."""
        return sum(each.outcome == "limited" for each in self.seen)

    @property
    def refused_in_a_row(self) -> int:
        """How many of the last requests a limit has refused, without any other between them."""
        return next((n for n, each in enumerate(reversed(self.seen)) if each.outcome != "limited"), len(self.seen))

    def start(self) -> None:
        for group in self._groups:
            self._tasks += [asyncio.create_task(self._client(group)) for _ in range(group.clients)]

    async def stop(self) -> None:
        """When the requests that are on their way have ended."""
        self._over = True
        await asyncio.gather(*self._tasks)

    async def _client(self, group: Group) -> None:
        while not self._over:
            self._count += 1
            await self._ask(group, f"fleet-{self._count}")

    async def _ask(self, group: Group, name: str) -> None:
        request = {"model": group.model, "stream": True, "max_tokens": ANSWER_TOKENS}
        body = json.dumps({**request, "messages": [{"role": "user", "content": f"{name}: hello"}]}).encode()
        head = f"POST {CHAT} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {group.key}\r\nconnection: close\r\n"
        head += f"x-request-id: {name}\r\nx-session-id: {name}\r\ncontent-length: {len(body)}\r\n\r\n"
        began, answer = time.monotonic(), b""
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(TIMEOUT):
                answer = await self._talk(head.encode() + body)
        status = int(answer[9:12]) if answer.startswith(b"HTTP/1.1 ") else 0
        complete = b"data: [DONE]" in answer
        outcome = {200: "answered" if complete else "cut", 0: "cut", 429: "limited"}.get(status, "unavailable")
        found = _GATEWAY.search(answer)
        gateway = self._name_of(found[1].decode()) if found else ""
        self.seen.append(Seen(began, time.monotonic(), outcome, gateway, group.name, name))
        self.sent.append(Sent(name, group.key_id, status, complete, int(len(body) / 3.5) + 1 + ANSWER_TOKENS))
        if outcome != "answered":
            await asyncio.sleep(PAUSE)

    async def _talk(self, data: bytes) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        try:
            writer.write(data)
            return await reader.read()
        finally:
            writer.transport.abort()


def by_second(seen: list[Seen], began: float, seconds: int) -> list[list[float]]:
    """For each second: how many requests ended, by outcome; then the median and the longest time of those answered, in
    milliseconds."""
    rows = []
    for second in range(seconds):
        ended = [each for each in seen if second <= each.ended - began < second + 1]
        counted = Counter(each.outcome for each in ended)
        times = [(each.ended - each.began) * 1000 for each in ended if each.outcome == "answered"]
        rows.append([*(counted[outcome] for outcome in OUTCOMES), percentile(times, 0.5), max(times, default=0.0)])
    return rows
