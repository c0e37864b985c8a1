"""How many requests a provider gets for one call of an official SDK at its default settings: at most three."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from collections.abc import Callable, Iterator
from typing import Any

import anthropic
import openai
import pytest
from tests.gateway.scripted import Asked, Play, Scripted, chunk, forever, whole
from tests.support.background import Background
from tests.support.gateway import RunningGateway, run_gateway

MOST = 3
WARM_UP = "the call before"


def answering(status: int, **headers: str) -> Play:
    async def play(asked: Asked) -> None:
        asked.document({"error": {"message": "no"}}, status, **headers)

    return play


async def close(asked: Asked) -> None:
    asked.writer.close()


async def reset(asked: Asked) -> None:
    sock = asked.writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    asked.writer.transport.abort()


async def cut_head(asked: Asked) -> None:
    asked.writer.write(b"HTTP/1.1 200 OK\r\ncontent-")
    await asked.writer.drain()
    asked.writer.close()


async def cut_body(asked: Asked) -> None:
    asked.writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{")
    await asked.writer.drain()
    asked.writer.close()


async def garbage(asked: Asked) -> None:
    asked.writer.write(b"what?\r\n\r\n")
    await asked.writer.drain()
    asked.writer.close()


async def no_json(asked: Asked) -> None:
    asked.document(b"<html>")


async def silent_body(asked: Asked) -> None:
    asked.writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{")
    await forever(asked)


async def empty_stream(asked: Asked) -> None:
    asked.begin_stream()
    asked.end_stream()


async def silent_stream(asked: Asked) -> None:
    asked.begin_stream()
    await forever(asked)


async def cut_stream(asked: Asked) -> None:
    asked.begin_stream()
    asked.send(chunk("Hel"))
    await asked.writer.drain()
    asked.writer.close()


FAULTS: dict[str, Play] = {
    **{str(status): answering(status) for status in (408, 409, 425, 429, 500, 502, 503, 504, 520, 524, 529)},
    "429, soon": answering(429, retry_after="1"),
    "429, retry": answering(429, x_should_retry="true"),
    "503, soon": answering(503, retry_after_ms="10"),
    "closed": close,
    "reset": reset,
    "cut head": cut_head,
    "cut body": cut_body,
    "not HTTP": garbage,
    "not JSON": no_json,
    "silent": forever,
    "silent body": silent_body,
    "empty stream": empty_stream,
    "silent stream": silent_stream,
    "cut stream": cut_stream,
}


class Clients:
    """The SDKs as their users make them."""

    def __init__(self, gateway: RunningGateway) -> None:
        self.openai = openai.OpenAI(base_url=f"{gateway.root}/v1", api_key=gateway.key)
        self.anthropic = anthropic.Anthropic(base_url=gateway.root, api_key=gateway.key)

    def chat(self, *, stream: bool, text: str = "hi") -> None:
        answer = self.openai.chat.completions.create(model="m", messages=_said(text), stream=stream)
        if stream:
            list(answer)

    def responses(self, *, stream: bool, text: str = "hi") -> None:
        answer = self.openai.responses.create(model="m", input=text, stream=stream)
        if stream:
            list(answer)

    def messages(self, *, stream: bool, text: str = "hi") -> None:
        answer = self.anthropic.messages.create(model="m", messages=_said(text), max_tokens=9, stream=stream)
        if stream:
            list(answer)

    def close(self) -> None:
        self.openai.close()
        self.anthropic.close()


def _said(text: str) -> list[Any]:
    return [{"role": "user", "content": text}]


@pytest.fixture
def upstream() -> Iterator[Scripted]:
    with Background() as background:
        yield background.start(Scripted().start())


CALLS: list[Callable[..., None]] = [Clients.chat, Clients.messages, Clients.responses]


@contextlib.contextmanager
def clients(upstream: Scripted, model: str = "m", **more: Any) -> Iterator[Clients]:
    provider = {"name": "p", "api_base_url": upstream.url, "models": [model], "transformer": {"use": ["Kimi"]}}
    more["retries"] = {"backoff": 0.01, **more.get("retries", {})}
    short = {"head": 0.5, "first_event": 0.5, "silence": 0.5, "commit": 0.1}
    with run_gateway({"providers": [provider], "timeouts": short, **more}) as gateway:
        found = Clients(gateway)
        try:
            yield found
        finally:
            found.close()


def call(sdk: Clients, method: Callable[..., None], *, stream: bool, text: str = "hi") -> None:
    with contextlib.suppress(openai.OpenAIError, anthropic.AnthropicError):
        method(sdk, stream=stream, text=text)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("fault", FAULTS)
def test_one_call_of_an_sdk_is_at_most_three_upstream_requests(upstream: Scripted, fault: str, stream: bool) -> None:
    with clients(upstream) as sdk:
        for method in CALLS:
            upstream.play = whole
            call(sdk, method, stream=False, text=WARM_UP)  # leaves a connection that is reused
            upstream.seen.clear()
            upstream.play = FAULTS[fault]
            call(sdk, method, stream=stream)
            # On a busy machine the call before may time out, and its request be read only now.
            mine = [asked for asked in upstream.seen if WARM_UP.encode() not in asked.body]
            assert 1 <= len(mine) <= MOST, method


@pytest.mark.parametrize("fault", ["503", "429", "closed"])
@pytest.mark.parametrize(
    "rules",
    [{"retries": 0}, {"attempts": 1}, {"budget": 0, "budget_floor": 0}],
    ids=["no retries", "once", "no budget"],
)
def test_a_gateway_that_does_not_retry_leaves_it_to_the_sdk(
    upstream: Scripted, fault: str, rules: dict[str, Any]
) -> None:
    with clients(upstream, retries=rules) as sdk:
        upstream.play = FAULTS[fault]
        call(sdk, Clients.chat, stream=False)
        # A closed connection may have been billed.
        assert len(upstream.seen) == (1 if fault == "closed" else MOST)


def test_a_provider_that_wants_a_long_wait_is_asked_again_by_the_sdk(upstream: Scripted) -> None:
    """The first time it asks for more than the gateway waits; then the SDK comes back and the gateway retries."""

    async def play(asked: Asked) -> None:
        if len(upstream.seen) == 1:
            asked.document({"error": {"message": "no"}}, 429, retry_after="2")
        else:
            asked.document({"error": {"message": "no"}}, 503)

    with clients(upstream, retries={"obey": 1}) as sdk:
        upstream.play = play
        call(sdk, Clients.chat, stream=False)
    assert len(upstream.seen) == MOST
    counts = [asked.header("x-stainless-retry-count") for asked in upstream.seen]
    assert counts == [None] * MOST  # what the SDK says to us is not passed on


def test_connections_that_are_refused(upstream: Scripted) -> None:
    """Nobody is asked; the gateway tries three times and the SDK is told not to."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    provider = {"name": "p", "api_base_url": f"http://127.0.0.1:{port}", "models": ["m"]}
    with run_gateway({"providers": [provider]}) as gateway:
        sdk = Clients(gateway)
        with pytest.raises(openai.APIStatusError) as failed:
            sdk.chat(stream=False)
        sdk.close()
    assert failed.value.response.headers["x-should-retry"] == "false"
    assert failed.value.response.request.headers["x-stainless-retry-count"] == "0"
    assert upstream.seen == []


def test_fallbacks_are_counted(upstream: Scripted) -> None:
    providers = [
        {"name": f"provider-{name}", "api_base_url": upstream.url, "models": [{"name": name, "fallback": fallback}]}
        for name, fallback in (("m", ["b", "c", "d"]), ("b", []), ("c", []), ("d", []))
    ]
    with run_gateway({"providers": providers}) as gateway:
        sdk = Clients(gateway)
        for method in CALLS:
            for fault in ("503", "429", "closed"):
                upstream.seen.clear()
                upstream.play = FAULTS[fault]
                call(sdk, method, stream=False)
                assert 1 <= len(upstream.seen) <= MOST
        sdk.close()


def test_resends_after_refusals_are_counted(upstream: Scripted) -> None:
    """Each refusal teaches a rule; the last of them would have been accepted."""
    refusals = ["invalid temperature: only 1 is allowed", "tool_choice 'required' is incompatible with thinking"]

    async def play(asked: Asked) -> None:
        number = len(upstream.seen)
        text = refusals[number - 1] if number <= len(refusals) else "busy"
        asked.document({"error": {"message": text}}, 400 if number <= len(refusals) else 503)
        await asyncio.sleep(0)

    with clients(upstream, model="kimi-k2.5") as sdk:
        upstream.play = play
        with contextlib.suppress(openai.OpenAIError):
            tool: Any = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
            sdk.openai.chat.completions.create(
                model="kimi-k2.5", messages=_said("hi"), temperature=0.3, tools=[tool], tool_choice="required"
            )
    assert len(upstream.seen) == MOST


def test_paths_that_are_passed_through(upstream: Scripted) -> None:
    """The SDK's retries count there, too: the last one is not sent again over a connection that turned out dead."""

    async def play(asked: Asked) -> None:
        if len(upstream.seen) == MOST:
            asked.writer.close()
        else:
            asked.document({"error": {"message": "busy"}}, 503)

    provider = {"name": "p", "api_base_url": upstream.url, "models": ["m"], "passthrough": ["/v1/embeddings"]}
    with run_gateway({"providers": [provider]}) as gateway:
        sdk = Clients(gateway)
        upstream.play = play
        with contextlib.suppress(openai.OpenAIError):
            sdk.openai.embeddings.create(model="m", input="hi")
        sdk.close()
    assert len(upstream.seen) == MOST
