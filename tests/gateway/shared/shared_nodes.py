"""Gateways' limiters over one real server, for tests of what they share."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from hashlib import sha256
from typing import Any

from tests.support.redis_server import RedisServer

from moongate.errors import Overloaded
from moongate.gateway.config.state_settings import State
from moongate.gateway.limits.account import Account
from moongate.gateway.limits.limit_set import LimitSet, Refusal
from moongate.gateway.limits.limiter import Admission, Limiter
from moongate.gateway.record.metrics import Metrics
from moongate.gateway.record.shared_counters import SharedCounters
from moongate.gateway.shared.shared_state import SharedState
from moongate.gateway.store.snapshot import Spent

KEY, TEAM = sha256(b"key").digest(), sha256(b"team").digest()
PATIENT = 10.0  # seconds: a busy machine must not make a gateway go alone


class Ledger:
    """A store that says what was spent."""

    def __init__(self) -> None:
        self.money = self.tokens = 0
        self.looks = 0
        self.is_readable = threading.Event()
        self.is_readable.set()

    def read_all_spent(self) -> dict[bytes, Spent]:
        self.looks += 1
        return {KEY: Spent(0, self.money, self.tokens)}

    def read_spent(self, identity: bytes) -> Spent | None:
        assert self.is_readable.wait(60)
        return Spent(0, self.money, self.tokens)


class Node:
    """One gateway's limits; it is also who listens to what others have learned."""

    def __init__(self, redis: RedisServer, name: str, ledger: Ledger, **settings: Any) -> None:
        self.limiter = Limiter()
        self.messages: list[str] = []
        self.learned: list[str] = []
        self.metrics = Metrics(SharedCounters())
        state = State(**{"url": redis.url, "node": name, "lease": 3, **settings})
        self.state = SharedState(
            state, self.limiter, self.metrics, worker=0, describe=dict, store=ledger, warn=self.messages.append
        )

    def cool_down(self, target: str, seconds: float) -> None: ...

    def learn(self, target: str, rule: str) -> None:
        self.learned.append(rule)

    def judge(self, target: str, worth: str) -> None: ...

    @property
    def untold(self) -> int:
        """Ends that the server has refused."""
        slot = self.metrics.counter("moongate_state_unreported_total")
        return int(self.metrics.values[slot])

    def account(self, limits: LimitSet, identity: bytes = KEY, owner: str = "key") -> Account:
        return self.limiter.account(identity, limits, owner)

    async def begin(self, *accounts: Account, tokens: int = 0, prompt: int = 0, cost: int = 0) -> Admission | Refusal:
        admission = self.limiter.admit(accounts)
        if isinstance(admission, Refusal):
            return admission
        try:
            refusal = await self.state.limits.begin(admission, tokens, prompt, cost)
            refusal = refusal or admission.reserve(tokens, prompt, cost)
        except Overloaded:
            admission.release()
            raise
        if refusal is not None:
            admission.settle(0, 0)
            admission.release()
            return refusal
        return admission


@asynccontextmanager
async def nodes(
    redis: RedisServer, count: int = 2, *, ledger: Ledger | None = None, deadline: float = PATIENT, **settings: Any
) -> AsyncIterator[list[Node]]:
    settings["deadline"] = deadline
    made = [Node(redis, f"node{number}", ledger or Ledger(), **settings) for number in range(count)]
    for each in made:
        each.state.start(each)
    try:
        await until(lambda: all(each.state.nodes.alive == count and each.state.is_up for each in made))
        yield made
    finally:
        for each in made:
            each.state.close()


async def until(condition: Callable[[], bool], seconds: float = 60) -> None:
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.02)


def run(test: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(test())  # type: ignore[arg-type]


def admitted(found: list[Admission | Refusal]) -> list[Admission]:
    return [each for each in found if isinstance(each, Admission)]


async def granted(node: Node, account: Account, **amounts: int) -> Admission:
    """The first request of a budget is checked locally, until the store was read. Ends are reported without
    waiting, so what is reserved may be so for a moment longer."""
    async with asyncio.timeout(60):
        while True:
            admission = await node.begin(account, **amounts)
            if isinstance(admission, Refusal):
                assert admission.transient
                await asyncio.sleep(0.02)
                continue
            assert admission.shared is not None
            if admission.shared.is_granted:
                return admission
            admission.settle(0, 0)
            admission.release()
            await asyncio.sleep(0.05)


def slots_of(redis: RedisServer) -> int:
    keys = redis.command("KEYS", "*:leases").split()
    return sum(int(redis.command("ZCARD", key)) for key in keys)


def spent_of(redis: RedisServer) -> int:
    keys = [key for key in redis.command("KEYS", "*").split() if key.count(":") == 2]
    found = [redis.command("HGET", key, "sm") for key in keys]
    return sum(int(each) for each in found if each)
