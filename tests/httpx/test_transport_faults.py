"""The transports with the openai SDK over a provider that redirects, fails, stalls, compresses and is asked by many."""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
import openai
import pytest
from tests.gateway.scripted import COMPLETION, DONE, Asked, Scripted, chunk
from tests.support.background import Background

from moongate.httpx import AnswerReport, AsyncKimiTransport, KimiTransport

HI: list[Any] = [{"role": "user", "content": "hi"}]
MODEL = "kimi-k2.5"


async def play(asked: Asked) -> None:
    """The key says what happens."""
    if "/moved/" in asked.head.partition("\r\n")[0]:
        asked.document(b"", 307, location="/v1/chat/completions")
    elif "bearer twice" in asked.head and asked.header("x-stainless-retry-count") != "2":
        asked.document({"error": {"message": "busy"}}, 503, retry_after_ms="1")
    elif "bearer stalls" in asked.head:
        if asked.json.get("stream"):
            asked.begin_stream()
            asked.send(chunk("Hel"))
        await asyncio.sleep(600)
    elif "bearer gzip" in asked.head:
        asked.document(gzip.compress(json.dumps(COMPLETION).encode()), content_encoding="gzip")
    elif asked.json.get("stream"):
        asked.begin_stream()
        for each in (chunk("Hel"), chunk("lo."), chunk("", "stop"), DONE):
            asked.send(each)
        asked.end_stream()
    else:
        asked.document({**COMPLETION, "id": asked.json["messages"][0]["content"]})


@pytest.fixture(scope="module")
def provider() -> Iterator[Scripted]:
    with Background() as background:
        yield background.start(Scripted(play).start())


class Reports:
    def __init__(self) -> None:
        self.worths: list[str] = []
        self.requests = 0

    def __call__(self, report: AnswerReport) -> None:
        self.worths.append(report.verdict.worth)
        self.requests += report.requests


def client_of(provider: Scripted, key: str, reports: Reports, path: str = "/v1", **more: Any) -> openai.OpenAI:
    http = httpx2.Client(
        transport=KimiTransport(on_answer=reports), timeout=more.pop("timeout", 60), follow_redirects=True
    )
    return openai.OpenAI(base_url=provider.url + path, api_key=key, http_client=http, **more)


def async_client_of(
    provider: Scripted, key: str, reports: Reports, path: str = "/v1", **more: Any
) -> openai.AsyncOpenAI:
    transport = AsyncKimiTransport(on_answer=reports)
    http = httpx2.AsyncClient(transport=transport, timeout=more.pop("timeout", 60), follow_redirects=True)
    return openai.AsyncOpenAI(base_url=provider.url + path, api_key=key, http_client=http, **more)


def ask(provider: Scripted, key: str, reports: Reports, *, stream: bool, **more: Any) -> str:
    with client_of(provider, key, reports, **more) as client:
        if not stream:
            return client.chat.completions.create(model=MODEL, messages=HI).choices[0].message.content or ""
        parts = client.chat.completions.create(model=MODEL, messages=HI, stream=True)
        return "".join(part.choices[0].delta.content or "" for part in parts if part.choices)


async def ask_async(provider: Scripted, key: str, reports: Reports, *, stream: bool, **more: Any) -> str:
    async with async_client_of(provider, key, reports, **more) as client:
        if not stream:
            return (await client.chat.completions.create(model=MODEL, messages=HI)).choices[0].message.content or ""
        text = ""
        async for part in await client.chat.completions.create(model=MODEL, messages=HI, stream=True):
            text += part.choices[0].delta.content or "" if part.choices else ""
        return text


def answer(provider: Scripted, key: str, reports: Reports, *, blocking: bool, stream: bool, **more: Any) -> str:
    if blocking:
        return ask(provider, key, reports, stream=stream, **more)
    return asyncio.run(ask_async(provider, key, reports, stream=stream, **more))


WAYS = pytest.mark.parametrize(
    ("blocking", "stream"), [(True, True), (True, False), (False, True), (False, False)]
)  # fmt: skip


@WAYS
def test_a_redirect_is_followed_and_is_no_answer(provider: Scripted, blocking: bool, stream: bool) -> None:
    reports = Reports()
    assert answer(provider, "k", reports, path="/moved", blocking=blocking, stream=stream) == "Hello."
    assert reports.worths == ["clean"]


@WAYS
def test_the_sdk_tries_again_and_each_try_is_told(provider: Scripted, blocking: bool, stream: bool) -> None:
    reports = Reports()
    assert answer(provider, "twice", reports, blocking=blocking, stream=stream) == "Hello."
    assert (reports.worths, reports.requests) == (["failed", "failed", "clean"], 3)


@WAYS
def test_a_provider_that_stalls_is_a_timeout(provider: Scripted, blocking: bool, stream: bool) -> None:
    reports = Reports()
    with pytest.raises((openai.APITimeoutError, httpx2.ReadTimeout)):
        answer(provider, "stalls", reports, blocking=blocking, stream=stream, timeout=0.5, max_retries=0)
    assert reports.worths == ["failed"]


@WAYS
def test_a_provider_that_cannot_be_reached_is_a_connection_error(blocking: bool, stream: bool) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # nobody listens there
        nobody = type("Nobody", (), {"url": f"http://127.0.0.1:{held.getsockname()[1]}"})()
        reports = Reports()
        with pytest.raises(openai.APIConnectionError):
            answer(nobody, "k", reports, blocking=blocking, stream=stream, max_retries=0)
    assert reports.worths == ["failed"]


@pytest.mark.parametrize("blocking", [True, False])
def test_a_compressed_answer_is_read(provider: Scripted, blocking: bool) -> None:
    reports = Reports()
    assert answer(provider, "gzip", reports, blocking=blocking, stream=False) == "Hello."
    assert reports.worths == ["clean"]


def test_many_threads_share_one_transport(provider: Scripted) -> None:
    reports = Reports()
    with client_of(provider, "k", reports) as client, ThreadPoolExecutor(8) as pool:

        def name(number: int) -> str:
            messages: list[Any] = [{"role": "user", "content": str(number)}]
            return client.chat.completions.create(model=MODEL, messages=messages).id

        assert list(pool.map(name, range(40))) == [str(number) for number in range(40)]
    assert reports.worths == ["clean"] * 40
