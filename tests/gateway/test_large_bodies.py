"""Large requests and answers are read and transformed in a thread, small ones on the loop; over real sockets."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.gateway.scripted import COMPLETION, Asked, Scripted
from tests.support.background import Background
from tests.support.gateway import KEY, RunningGateway, run_gateway
from tests.support.http import Reply, post

from moongate.gateway.http.offload import OFFLOAD_ANSWER, OFFLOAD_BYTES, OFFLOAD_OBJECTS

THREADS = """
import asyncio

from moongate import BaseExchange, BaseTransformer


def in_thread():
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return True
    return False


class Exchange(BaseExchange):
    def reply(self, body):
        return {**body, "answer_in_thread": in_thread()}

    def next_request(self):
        self.tries = getattr(self, "tries", 0) + 1
        wants = "further" in self.request and self.tries == 1
        return {**self.request, "further_in_thread": in_thread()} if wants else None


class Threads(BaseTransformer):
    def begin(self, request):
        return Exchange({**request, "request_in_thread": in_thread()})
"""


@pytest.fixture(scope="module")
def upstream() -> Iterator[Scripted]:
    with Background() as background:
        yield background.start(Scripted().start())


@pytest.fixture(scope="module")
def gateway(upstream: Scripted, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningGateway]:
    path: Path = tmp_path_factory.mktemp("transformers") / "threads.py"
    path.write_text(THREADS)
    provider = {"name": "p", "api_base_url": upstream.url, "models": ["m"], "transformer": {"use": ["Threads"]}}
    with run_gateway({"providers": [provider], "transformers": [str(path)]}) as running:
        yield running


def ask(gateway: RunningGateway, size: int, **more: Any) -> Reply:
    body = {"model": "m", "messages": [{"role": "user", "content": "x" * size}], **more}
    return post(gateway.root + "/v1/chat/completions", body, key=KEY)


@pytest.mark.parametrize(("size", "threaded"), [(10, False), (OFFLOAD_BYTES, True)])
def test_a_request(gateway: RunningGateway, upstream: Scripted, size: int, threaded: bool) -> None:
    reply = ask(gateway, size)
    assert reply.status == 200
    assert upstream.seen[-1].json["request_in_thread"] is threaded
    assert reply.json()["answer_in_thread"] is False


@pytest.mark.parametrize(("size", "threaded"), [(10, False), (OFFLOAD_BYTES, True)])
def test_an_answer(gateway: RunningGateway, upstream: Scripted, size: int, threaded: bool) -> None:
    async def large(asked: Asked) -> None:
        asked.document({**COMPLETION, "padding": "x" * size})

    before, upstream.play = upstream.play, large
    try:
        reply = ask(gateway, 10)
    finally:
        upstream.play = before
    assert reply.json()["answer_in_thread"] is threaded


@pytest.mark.parametrize(("size", "threaded"), [(10, False), (OFFLOAD_ANSWER, True)])
def test_a_further_try_behind_an_answer(gateway: RunningGateway, upstream: Scripted, size: int, threaded: bool) -> None:
    """It may repeat all calls of the answer."""

    async def large(asked: Asked) -> None:
        asked.document({**COMPLETION, "padding": "x" * size})

    before, upstream.play = upstream.play, large
    try:
        assert ask(gateway, 10, further=True).status == 200
    finally:
        upstream.play = before
    assert upstream.seen[-1].json["further_in_thread"] is threaded


def test_many_small_objects(gateway: RunningGateway, upstream: Scripted) -> None:
    ask(gateway, 10, metadata=[{}] * OFFLOAD_OBJECTS)
    assert upstream.seen[-1].json["request_in_thread"] is True


def test_errors_of_large_requests_are_the_clients(gateway: RunningGateway) -> None:
    assert ask(gateway, OFFLOAD_BYTES, model="none").status == 404
    reply = post(gateway.root + "/v1/chat/completions", b"{" + b" " * OFFLOAD_BYTES, key=KEY)
    assert (reply.status, reply.json()["error"]["code"]) == (400, "invalid_json")
