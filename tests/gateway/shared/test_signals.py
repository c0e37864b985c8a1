"""What one gateway learns reaches the other, over a real Redis."""

from __future__ import annotations

import asyncio

from tests.gateway.shared.shared_nodes import until
from tests.support.redis_server import RedisServer

from moongate.gateway.shared.address import parse_address
from moongate.gateway.shared.link import StateLink
from moongate.gateway.shared.script import SCRIPT
from moongate.gateway.shared.signals import TargetSignals


class Heard:
    def __init__(self) -> None:
        self.heard: list[tuple[str, str, object]] = []

    def cool_down(self, target: str, seconds: float) -> None:
        self.heard.append(("cool_down", target, seconds))

    def learn(self, target: str, rule: str) -> None:
        self.heard.append(("learn", target, rule))

    def judge(self, target: str, worth: str) -> None:
        self.heard.append(("judge", target, worth))


def test_others_hear_it_once_and_the_sender_does_not(redis: RedisServer) -> None:
    async def run() -> None:
        names = ["a/0", "a/1", "b/0", "b/1"]
        links = [StateLink(parse_address(redis.url), SCRIPT, deadline=10) for _ in names]
        signals = [TargetSignals(name, reads_worths=name.endswith("0")) for name in names]
        heard = [Heard() for _ in names]
        for link, each, listener in zip(links, signals, heard, strict=True):
            link.start()
            each.connect(link, "test", listener)
        await until(lambda: all(link.is_up for link in links))
        now = float(redis.command("TIME").split()[0])
        for each in signals:
            each.exchange(now - 1)
        signals[0].cooled("p,m", 5.0)
        signals[0].learned("p,m", "no_temperature")
        for worth in ("damaged", "damaged", "clean"):
            signals[0].judged("p,m", worth)
        sent = {("cool_down", "p,m", 5.0), ("learn", "p,m", "no_temperature")}
        worths = {("judge", "p,m", "damaged"), ("judge", "p,m", "clean")}

        def all_heard() -> bool:
            for each in signals:
                each.exchange(now)
            return [set(each.heard) for each in heard] == [set(), sent, sent | worths, sent]

        await until(all_heard)
        assert len(heard[2].heard) == 5
        for link in links:
            link.close()

    asyncio.run(run())


def test_a_signal_of_a_newer_version_is_left_out_and_the_connection_stays(redis: RedisServer) -> None:
    async def run() -> None:
        link, signals, heard = StateLink(parse_address(redis.url), SCRIPT, deadline=10), TargetSignals("a/0"), Heard()
        losses: list[str] = []
        link._on_down = losses.append
        link.start()
        signals.connect(link, "test", heard)
        await until(lambda: link.is_up)
        for kind, value in (("forecast", "sunny"), ("cool_down", "a while"), ("cool_down", "2.5")):
            redis.command("XADD", "test:{signals}", "*", "from", "b/0", "kind", kind, "target", "p,m", "value", value)
        signals.exchange(float(redis.command("TIME").split()[0]))
        await until(lambda: heard.heard == [("cool_down", "p,m", 2.5)])
        assert losses == []
        link.close()

    asyncio.run(run())


def test_without_a_link_nothing_is_collected() -> None:
    signals = TargetSignals()
    signals.cooled("p,m", 1.0)
    signals.judged("p,m", "clean")
    signals.exchange(0.0)
