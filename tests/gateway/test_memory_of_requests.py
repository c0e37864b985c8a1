"""What a request held is free when it is over, not when the garbage collector comes: until then it adds up."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import http.client
import json
import tracemalloc
from collections.abc import Callable, Iterator
from threading import Event
from urllib.parse import urlsplit

import pytest
from tests.gateway.scripted import Asked, Play, Scripted, whole
from tests.support.background import Background
from tests.support.gateway import KEY, RunningGateway, run_gateway
from tests.support.http import Reply, get, post

REQUESTS = 8
BODY = 2 * 1024 * 1024
HEADS = 120
HEAD = 48 * 1024
WARM_UP = 3  # what is made once: connections, threads, caches


async def failing(asked: Asked) -> None:
    asked.document({"error": {"message": "no"}}, 500)


async def refusing(asked: Asked) -> None:
    asked.document({"error": {"message": "no"}}, 400)


async def closing(asked: Asked) -> None:
    asked.writer.close()


async def no_json(asked: Asked) -> None:
    asked.document(b"<html>")


async def cut_answer(asked: Asked) -> None:
    asked.document(b'{"choices":[{"message":{"content":"' + b"y" * BODY)


PLAYS = [failing, refusing, closing, no_json, cut_answer]


@pytest.fixture
def upstream() -> Iterator[Scripted]:
    with Background() as background:
        yield background.start(Scripted().start())


@pytest.fixture
def gateway(upstream: Scripted) -> Iterator[RunningGateway]:
    provider = {"name": "p", "api_base_url": upstream.url, "models": ["m"], "transformer": {"use": ["Kimi"]}}
    rules = {"backoff": 0, "failures": 1_000_000}
    with run_gateway({"providers": [provider], "retries": rules}) as running:
        yield running


@contextlib.contextmanager
def no_collection() -> Iterator[None]:
    gc.collect()
    gc.disable()
    tracemalloc.start()
    try:
        yield
    finally:
        tracemalloc.stop()
        gc.enable()


def left_behind(upstream: Scripted, count: int, ask: Callable[[], object]) -> int:
    """Bytes that so many requests leave behind."""
    with no_collection():
        for _ in range(WARM_UP):
            ask()
        upstream.seen.clear()
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(count):
            ask()
            upstream.seen.clear()
        return tracemalloc.get_traced_memory()[0] - before


def large(gateway: RunningGateway, model: str = "m", *, stream: bool = False) -> Reply:
    body = {"model": model, "stream": stream, "messages": [{"role": "user", "content": "x" * BODY}]}
    return post(gateway.root + "/v1/chat/completions", body, key=KEY)


@pytest.mark.parametrize("play", PLAYS, ids=lambda play: play.__name__)
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_requests_that_a_provider_fails(upstream: Scripted, gateway: RunningGateway, play: Play, stream: bool) -> None:
    upstream.play = play
    assert left_behind(upstream, REQUESTS, lambda: large(gateway, stream=stream)) < 2 * BODY


def test_requests_that_are_refused(upstream: Scripted, gateway: RunningGateway) -> None:
    assert left_behind(upstream, REQUESTS, lambda: large(gateway, "unknown")) < 2 * BODY


@pytest.mark.parametrize("key", [KEY, "wrong"])
def test_large_heads(upstream: Scripted, gateway: RunningGateway, key: str) -> None:
    upstream.play = whole
    headers = {"connection": "close", "x-other": "h" * HEAD, "authorization": f"Bearer {key}"}
    assert left_behind(upstream, HEADS, lambda: get(gateway.root + "/v1/models", headers=headers)) < HEADS * HEAD // 4


def streaming(upstream: Scripted, gateway: RunningGateway, **more: str) -> int:
    """Bytes that a large request takes while its answer streams."""
    over = Event()

    async def play(asked: Asked) -> None:
        asked.begin_stream()
        asked.send(b'event: response.created\ndata: {"type":"response.created","response":{"id":"resp_1"}}\n\n')
        await asyncio.to_thread(over.wait, 60)
        asked.end_stream()

    upstream.play = play
    body = json.dumps({"model": "r", "stream": True, "input": "x" * BODY, **more})
    with contextlib.closing(http.client.HTTPConnection(urlsplit(gateway.root).netloc, timeout=60)) as client:
        client.connect()
        with no_collection():
            before = tracemalloc.get_traced_memory()[0]
            client.request("POST", "/v1/responses", body, {"authorization": f"Bearer {KEY}"})
            client.getresponse().read1()
            upstream.seen.clear()
            try:
                return tracemalloc.get_traced_memory()[0] - before
            finally:
                over.set()


def test_requests_that_name_what_a_provider_has_stored(upstream: Scripted) -> None:
    """They take no more than others: why providers of chat completions cannot answer is over with the choice."""
    provider = {"name": "r", "api_base_url": upstream.url, "models": ["r"], "dialect": "responses"}
    with run_gateway({"providers": [provider]}) as gateway:
        usual = min(streaming(upstream, gateway) for _ in range(WARM_UP))
        stored = min(streaming(upstream, gateway, previous_response_id="resp_0") for _ in range(WARM_UP))
    assert stored < usual + BODY // 2
