"""What the guard's further tries cost: each is in the usage and in the budgets, also when no usage of it came."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.served import CLIENT, PATH, Served, config, serving, write
from tests.cli.test_serve_usage import recorded
from tests.gateway.guarded_plays import ASK, RIGHT, STRICT, broken, in_order, refused, right, silent, wrong
from tests.gateway.scripted import Play, Scripted
from tests.gateway.test_limits import until
from tests.support.canary import WATCH
from tests.support.http import get, post

from moongate.gateway.limits.limit_set import LimitSet
from moongate.gateway.store.connect import open_database
from moongate.gateway.store.entities import StoredKey
from moongate.gateway.store.keys import KeyStore
from moongate.gateway.store.record import UsageRow

ANSWER = 50  # the limit of tokens that a client sets
LIMITED_ANSWER = 400


class Usage:
    """A gateway with a store; the rows are read when it has stopped."""

    def __init__(self, folder: Path, served: Served, upstream: Scripted) -> None:
        self._folder, self._served, self._upstream = folder, served, upstream
        self.root = served.root()
        self.limited = ""  # a key with a budget that allows one request, but not another try

    def ask(self, name: str, *plays: Play, stream: bool, key: str = CLIENT, answer: int = ANSWER) -> bytes:
        self._upstream.play = in_order(*plays)
        body = {**ASK, "stream": stream, "max_tokens": answer}
        reply = post(self.root + PATH, body, key=key, headers={"x-request-id": name})
        assert reply.status == 200, reply
        return reply.body

    def leave(self, name: str, *plays: Play, stream: bool) -> None:
        """A client that leaves when the second request has reached the provider."""
        self._upstream.play = in_order(*plays)
        seen, left = len(self._upstream.seen), self._upstream.left
        host, port = self.root.removeprefix("http://").split(":")
        data = json.dumps({**ASK, "stream": stream, "max_tokens": ANSWER}).encode()
        head = f"POST {PATH} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {CLIENT}\r\nx-request-id: {name}\r\n"
        with socket.create_connection((host, int(port)), timeout=60) as client:
            client.sendall(head.encode() + b"content-length: %d\r\n\r\n" % len(data) + data)
            until(lambda: len(self._upstream.seen) == seen + 2)
        until(lambda: self._upstream.left == left + 1)

    def rows(self) -> dict[str, UsageRow]:
        assert self._served.stop() == 0
        return {row.request: row for row in recorded(self._folder)}


@pytest.fixture
def usage(tmp_path: Path, upstream: Scripted) -> Iterator[Usage]:
    (tmp_path / "home").mkdir()
    database = open_database(str(tmp_path / "home" / "moongate.db"))
    _, limited = KeyStore(database).create_key(StoredKey("", b"", "", "k", limits=LimitSet(token_budget=800)), "test")
    database.close()
    WATCH.know([limited])
    made = config(upstream, retries={"guard_budget": 1})
    made["providers"][0] |= {"models": [{"name": "m", "price": {"input": 1, "output": 10}}], "transformer": STRICT}
    write(tmp_path, made)
    with serving(tmp_path) as served:
        made_usage = Usage(tmp_path, served, upstream)
        made_usage.limited = limited
        yield made_usage


def numbers(row: UsageRow) -> tuple[int, int, int, int]:
    return row.input, row.output, row.attempts, row.estimated


def test_every_try_is_in_the_usage(usage: Usage) -> None:
    for name, stream in (("whole", False), ("streamed", True)):
        assert RIGHT.replace('"', '\\"').encode() in usage.ask(f"{name}-right", wrong, right, stream=stream)
        usage.ask(f"{name}-wrong", wrong, stream=stream)
        usage.ask(f"{name}-refused", wrong, refused, stream=stream)
        assert b"I read." in usage.ask(f"{name}-broken", wrong, broken, stream=stream)
    assert (
        usage.ask("limited", wrong, right, stream=False, key=usage.limited, answer=LIMITED_ANSWER).count(b'"{}"') == 1
    )
    metrics = get(usage.root + "/metrics", key=CLIENT).body.decode()
    assert 'moongate_guard_tries_total{provider="p",model="m",result="limit"} 1' in metrics
    for name, stream in (("whole", False), ("streamed", True)):
        usage.leave(f"{name}-left", wrong, silent, stream=stream)
    rows = usage.rows()
    for name in ("whole", "streamed"):
        assert numbers(rows[f"{name}-right"]) == (170, 50, 2, 0)
        assert rows[f"{name}-right"].cost == 170 + 50 * 10
        assert numbers(rows[f"{name}-wrong"]) == (210, 60, 3, 0)
        assert numbers(rows[f"{name}-refused"]) == (70, 20, 2, 0)
        for how in ("broken", "left"):
            row = rows[f"{name}-{how}"]
            assert (row.output, row.attempts, row.estimated) == (20 + ANSWER, 2, 1), (name, how)
            assert row.input > 70 + 50  # an estimate of the second prompt
    assert numbers(rows["limited"]) == (70, 20, 1, 0)
