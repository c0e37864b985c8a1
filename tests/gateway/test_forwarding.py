"""Forwarding chunks from socket to socket: the client gets the same bytes as without it, however they arrive."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httptools
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.length import examples

from moongate import KimiTransformer
from moongate.chat.contracts import Dialect
from moongate.dialects.fronts import CHAT, MESSAGES, RESPONSES
from moongate.fast.session import FastSession
from moongate.gateway.config.limit_settings import Timeouts
from moongate.gateway.http.relay import Relay
from moongate.gateway.http.stream_timeouts import StreamTimeouts
from moongate.gateway.server.request_cycle import RequestResponseCycle
from moongate.gateway.server.ticker import Ticker
from moongate.net.connection import Connection
from moongate.net.deadlines import Deadlines

SSE = "text/event-stream"
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
REQUEST: dict[str, Any] = {
    "messages": [{"role": "user", "content": "Go."}],
    "tools": [{"type": "function", "function": {"name": "bash", "parameters": {"type": "object"}}}],
}
CALL = '<|tool_call_begin|>functions.bash:0<|tool_call_argument_begin|>{"a": 1}<|tool_call_end|>'


class Wire(asyncio.Transport):
    """A transport that keeps what is written."""

    def __init__(self) -> None:
        super().__init__()
        self.written: list[bytes] = []

    def write(self, data: Any) -> None:
        self.written.append(data)

    def writelines(self, list_of_data: Any) -> None:
        self.written.extend(list_of_data)

    def is_closing(self) -> bool:
        return False

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return Descriptor()

    def get_write_buffer_size(self) -> int:
        return 0

    def abort(self) -> None: ...

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...


class Descriptor:
    def fileno(self) -> int:
        return 0


class Client:
    """The methods of a protocol that a cycle calls."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.transport = Wire()
        self.peer = ""

    def date(self) -> bytes:
        return b""

    def response_complete(self, cycle: RequestResponseCycle) -> None: ...

    def resume_reading(self) -> None: ...


class CallBody:
    """The body of an HTTP answer, by httptools."""

    def __init__(self, data: bytes) -> None:
        self.whole = b""
        self.complete = False
        httptools.HttpResponseParser(self).feed_data(data)

    def on_body(self, data: bytes) -> None:
        self.whole += data

    def on_message_complete(self) -> None:
        self.complete = True


def event(text: str, **more: Any) -> bytes:
    body = {"id": "c", "choices": [{"index": 0, "delta": {"content": text, **more}, "finish_reason": None}]}
    return b"data: " + json.dumps(body, ensure_ascii=False).encode() + b"\n\n"


END = b'data: {"id": "c", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'


def session_of(preset: str, front: Dialect) -> FastSession:
    exchange = KimiTransformer.from_config({"preset": preset}, model="kimi-k2").begin(REQUEST)
    return FastSession(exchange, SSE, front.encoder({"model": "m", "stream": True}))


@asynccontextmanager
async def relay_of(preset: str, front: Dialect = CHAT) -> AsyncIterator[tuple[Connection, Relay, Wire]]:
    """A stream that has begun: the provider's connection, the relay, what the client is sent."""
    connection = Connection(lambda _, __: None)
    connection.connection_made(Wire())
    exchange = connection.start(b"head", b"body", Deadlines())
    client = Client()
    cycle = RequestResponseCycle(client, head_only=False, persistent=True)  # type: ignore[arg-type]  # as much of it as is needed
    cycle.complete = True
    timeouts = StreamTimeouts.of(Timeouts(keep_alive=2), 1.0)
    session = session_of(preset, front)
    relay = Relay(session, front, cycle, headers=[], timeouts=timeouts, ticker=Ticker(), on_commit=lambda: None)
    connection.data_received(HEAD)
    exchange.check()
    running = asyncio.ensure_future(relay.run(exchange))
    await asyncio.sleep(0)
    yield connection, relay, client.transport
    await asyncio.wait_for(running, 20)


async def relayed(reads: list[bytes], preset: str, front: Dialect = CHAT) -> tuple[CallBody, int]:
    """What the client reads, and how many reads were forwarded: those that kept their own framing."""
    async with relay_of(preset, front) as (connection, _, wire):
        for read in reads:
            connection.data_received(read)
    return CallBody(b"".join(wire.written)), sum(any(each is read for read in reads) for each in wire.written)


def framed(body: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(body), body)


def fed(body: bytes, preset: str, front: Dialect) -> bytes:
    """What the session alone makes of the events."""
    session = session_of(preset, front)
    return b"".join(session.feed(part + b"\n\n") for part in body.split(b"\n\n")[:-1])


@pytest.mark.interpreted("brings a protocol of its own")
def test_ordinary_text_is_forwarded() -> None:
    texts = [event(text) for text in ("one", " two", " three", " 四", r" \five", " six\n")]
    for preset in ("default", "agent"):
        body, forwarded = asyncio.run(relayed([*map(framed, texts), framed(END), b"0\r\n\r\n"], preset))
        assert body.whole == b"".join(texts) + END
        assert body.complete
        assert forwarded == 5  # the envelope is learnt from the first


@pytest.mark.interpreted("brings a protocol of its own")
def test_forwarded_text_postpones_keep_alives() -> None:
    async def kept_alive() -> list[int]:
        text = framed(event("a"))
        counts = []
        async with relay_of("agent") as (connection, relay, wire):
            for read in (text, text, text, text, b"", b"", text, b"", b""):
                if read:
                    connection.data_received(read)
                relay.tick()
                counts.append(sum(b": keep-alive" in each for each in wire.written))
            connection.data_received(framed(END) + b"0\r\n\r\n")
        return counts

    assert asyncio.run(kept_alive()) == [0, 0, 0, 0, 0, 1, 1, 1, 2]


words = st.sampled_from(["a", " b, c", "<", "x < y", " 中", "\n", '"', CALL[:30], CALL[30:], CALL, ""])
events = words.map(event) | st.just(b": ping\n\n") | words.map(lambda text: event(text, role="assistant"))


@pytest.mark.interpreted("brings a protocol of its own")
@settings(max_examples=examples(300), deadline=None, derandomize=True)
@given(st.lists(events, max_size=12), st.lists(st.integers(1, 400), max_size=6), st.data())
def test_the_client_gets_the_same_without_forwarding(parts: list[bytes], cuts: list[int], data: st.DataObject) -> None:
    preset = data.draw(st.sampled_from(["default", "agent"]))
    fronts: list[Dialect] = [CHAT, MESSAGES, RESPONSES]
    front = data.draw(st.sampled_from(fronts))
    sent = b"".join(parts) + END
    chunks = [framed(part) for part in [*parts, END]] if data.draw(st.booleans()) else _chunked(sent, cuts)
    reads = [*chunks, b"0\r\n\r\n"] if data.draw(st.booleans()) else _cut(b"".join(chunks) + b"0\r\n\r\n", cuts)
    body, _ = asyncio.run(relayed(reads, preset, front))
    assert body.complete
    assert _said(body.whole) == _said(fed(sent, preset, front))


def _chunked(data: bytes, sizes: list[int]) -> list[bytes]:
    return [framed(part) for part in _cut(data, sizes)]


def _cut(data: bytes, sizes: list[int]) -> list[bytes]:
    parts = []
    for size in sizes:
        parts.append(data[:size])
        data = data[size:]
    return [part for part in (*parts, data) if part]


def _said(stream: bytes) -> tuple[str, str, list[str]]:
    """All text, all arguments, and the other events: what does not depend on how the bytes were cut."""
    content = arguments = ""
    others: list[str] = []
    for line in stream.splitlines():
        if not line.startswith(b"data: {"):
            others += ["done"] * (line == b"data: [DONE]")
            continue
        event = json.loads(line[6:])
        delta = event.get("delta")
        for choice in event.get("choices", ()):
            content += choice["delta"].get("content") or ""
            for call in choice["delta"].get("tool_calls") or ():
                arguments += call["function"].get("name", "") + call["function"].get("arguments", "")
        if event.get("type") == "content_block_delta":
            content += delta.get("text", "")
            arguments += delta.get("partial_json", "")
        elif event.get("type") == "response.output_text.delta":
            content += delta
        elif event.get("type") == "response.function_call_arguments.delta":
            arguments += delta
        elif "type" in event:
            others.append(event["type"])
    return content, arguments, others


@pytest.mark.interpreted("brings a protocol of its own")
def test_the_numbers_of_events_have_no_gap() -> None:
    texts = [framed(event(text)) for text in ("one", " two", " three", "", " 四", " six\n")]
    body, _ = asyncio.run(relayed([*texts, framed(END), b"0\r\n\r\n"], "agent", RESPONSES))
    numbers = [json.loads(line[6:])["sequence_number"] for line in body.whole.splitlines() if line.startswith(b"data")]
    assert numbers == list(range(len(numbers)))
    assert b'"text":"one two three \xe5\x9b\x9b six\\n"' in body.whole.replace(b'": "', b'":"')


def test_an_answer_that_is_too_long_ends_while_forwarding_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("moongate.dialects.openai_responses.stream.MAX_ANSWER", 50)

    async def sent() -> tuple[bytes, Relay]:
        async with relay_of("agent", RESPONSES) as (connection, relay, wire):
            for _ in range(9):
                connection.data_received(framed(event("0123456789")))
        return b"".join(wire.written), relay  # though the provider has not ended

    out, relay = asyncio.run(sent())
    body = CallBody(out)
    assert body.complete
    assert body.whole.count(b"event: response.failed") == 1
    assert body.whole.count(b"event: response.output_text.delta") == 5
    assert "longer than the limit" in str(relay.failure)
