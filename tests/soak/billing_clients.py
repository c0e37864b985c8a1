"""Clients of the billing scenario: many keys, streams and documents, some of which are left halfway."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
from dataclasses import dataclass
from typing import Any

from tests.soak.client import CHAT

# Weights of the simulator's behaviours: half of the requests meet no fault.
MODELS = {
    "kimi-k2-sim": 24,
    "kimi-k2-sim-cache-writes": 4,
    "kimi-k2-sim-usage-in-choices": 2,
    "kimi-k2-sim-ndjson": 2,
    "kimi-k2-sim-no-done": 2,
    "kimi-k2-sim-markers": 4,
    "kimi-k2-sim-500-once": 5,
    "kimi-k2-sim-429-once": 3,
    "kimi-k2-sim-overloaded-once": 2,
    "kimi-k2-sim-broken": 3,
    "kimi-k2-sim-broken-chunk": 2,
    "kimi-k2-sim-error-mid": 2,
    "kimi-k2-sim-500": 1,
    "kimi-k2-sim-quota": 1,
    "kimi-k2-sim-stalled": 1,
    "kimi-k2-sim-slow": 3,
    "kimi-k2-sim-valid-50-second-try": 4,
    "kimi-k2-sim-valid-50-after-error": 3,
    "kimi-k2-sim-valid-50-never-right": 1,
}
GUARDED = "valid-"  # in the names of models whose requests offer a tool, so that the guard has something to ask again
TOOL = {
    "type": "function",
    "function": {
        "name": "read",
        "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
    },
}
ANSWER_TOKENS = 40
LEFT_HALFWAY = 0.1  # the share of requests whose client leaves before the end
TIMEOUT = 60.0


@dataclass(frozen=True, slots=True)
class Sent:
    """One request as its client knows it. `status` 0: no answer came, or the client left."""

    id: str
    key: str  # the id of the client key
    status: int
    complete: bool
    estimate: int  # tokens that the gateway reserves for one attempt


class Clients:
    """`run(clients, requests)` or `run_for(clients, seconds)`; then `sent`."""

    def __init__(self, port: int, keys: list[tuple[str, str]], seed: int = 1) -> None:
        """`keys`: id and text of each."""
        self._port = port
        self._keys = keys
        self._random = random.Random(seed)
        self._left = 0
        self.sent: list[Sent] = []

    async def run(self, clients: int, requests: int) -> None:
        self._left = requests
        await asyncio.gather(*(self._client() for _ in range(clients)))

    async def run_for(self, clients: int, seconds: float) -> None:
        self._left = 10**9
        tasks = [asyncio.create_task(self._client()) for _ in range(clients)]
        await asyncio.sleep(seconds)
        self._left = 0
        await asyncio.gather(*tasks)

    async def _client(self) -> None:
        while self._left > 0:
            self._left -= 1
            await self._ask(f"billing-{self._left}")

    async def _ask(self, name: str) -> None:
        key_id, key = self._random.choice(self._keys)
        model = self._random.choices(list(MODELS), list(MODELS.values()))[0]
        request: dict[str, Any] = {
            "model": model,
            "stream": self._random.random() < 0.6,
            "max_tokens": ANSWER_TOKENS,
            "messages": [{"role": "user", "content": f"{name}: hello" + " again" * self._random.randrange(40)}],
        }
        if GUARDED in model:
            request["tools"] = [TOOL]
        body = json.dumps(request).encode()
        head = f"POST {CHAT} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {key}\r\nconnection: close\r\n"
        head += f"x-request-id: {name}\r\nx-session-id: {name}\r\ncontent-length: {len(body)}\r\n\r\n"
        answer = b""
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(TIMEOUT):
                answer = await self._talk(head.encode() + body, leaves=self._random.random() < LEFT_HALFWAY)
        status = int(answer[9:12]) if answer.startswith(b"HTTP/1.1 ") else 0
        complete = answer.endswith((b"0\r\n\r\n", b"}"))
        self.sent.append(Sent(name, key_id, status, complete, int(len(body) / 3.5) + 1 + ANSWER_TOKENS))

    async def _talk(self, data: bytes, *, leaves: bool) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        try:
            writer.write(data)
            if not leaves:
                return await reader.read()
            await asyncio.sleep(self._random.random() / 20)
            return await reader.read(200) if self._random.random() < 0.5 else b""
        finally:
            writer.transport.abort()
