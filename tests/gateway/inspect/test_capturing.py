"""Captured answers are cut into events, at a cost that is linear in their size whatever the events are."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any

import pytest

from moongate.chat.contracts import Note
from moongate.gateway.inspect import capture as module
from moongate.gateway.inspect.capture import MAX_NOTES, Capture, CapturedAttempt
from moongate.gateway.inspect.capturing import MAX_HELD, MAX_SPLIT, CapturedResponse
from moongate.pipeline.chain import ChainExchange

pytestmark = pytest.mark.interpreted("brings exchanges of its own")

READ = 1 << 18
SECONDS = 0.05  # of CPU, which a quick round needs a tenth of


class Response:
    """A provider's answer in reads of any size."""

    def __init__(self, reads: list[bytes]) -> None:
        self._reads = reads
        self.status, self.sent_at = 200, 0.0
        self.headers = {b"content-type": b"text/event-stream"}
        self.pause = self.resume = self.release = self.close = lambda: None

    def pipe(self, sink: Callable[[bytes], None]) -> Awaitable[None]:
        for data in self._reads:
            sink(data)
        return asyncio.sleep(0)


def captured(
    reads: list[bytes],
    exchange: Any = None,
    sink: Callable[[bytes], None] | None = None,
    content_type: str = "text/event-stream",
) -> list[bytes]:
    """What the session is fed."""
    fed: list[bytes] = []
    capture = Capture("r", "", time.perf_counter())
    capture.exchange = exchange
    attempt = CapturedAttempt("t", "", b"", 0.0, False, content_type=content_type)
    capture.attempts.append(attempt)

    async def run() -> None:
        await CapturedResponse(Response(reads), capture, attempt).pipe(sink or fed.append)  # type: ignore[arg-type]

    asyncio.run(run())
    return fed


@pytest.mark.parametrize("end", ["\n\n", "\r\r", "\r\n\r\n"])
@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_the_session_is_fed_event_by_event(end: str, size: int) -> None:
    events = [f"data: {number}{end}".encode() for number in range(5)]
    data = b"".join(events) + b"data: cut"
    assert captured([data[at : at + size] for at in range(0, len(data), size)]) == [*events, b"data: cut"]


@pytest.mark.parametrize(
    ("content_type", "data", "parts"),
    [
        ("application/x-ndjson", b'{"a":1}\n{"b":2}\r\n{"c":3}', [b'{"a":1}\n', b'{"b":2}\r\n', b'{"c":3}']),
        ("text/event-stream", b'{\n\n"error":1}', [b'{\n\n"error":1}']),
        ("text/plain", b"\xef\xbb\xbf\ndata: 1\n\ndata: 2\n\n", [b"\xef\xbb\xbf\ndata: 1\n\n", b"data: 2\n\n"]),
        ("application/json", b'{"a":1}\n\n{"b":2}', [b'{"a":1}\n\n{"b":2}']),
    ],
)
def test_a_read_is_cut_where_its_framing_cuts_it(content_type: str, data: bytes, parts: list[bytes]) -> None:
    assert captured([data], content_type=content_type) == parts
    assert captured([b" \n", data], content_type=content_type) == [b" \n", *parts]


def test_an_event_without_an_end_is_fed_in_pieces() -> None:
    reads = [b"x" * 1000] * (MAX_HELD // 1000 + 2)
    fed = captured([*reads, b"\n\nrest"])
    assert len(fed[0]) > MAX_HELD
    assert b"".join(fed) == b"".join(reads) + b"\n\nrest"


@pytest.mark.parametrize("unit", [b":\n\n", b"\n\n", b"\r\r", b"data: {}\r\n\r\n", b"x\n", b"\n\r"])
def test_a_read_of_many_small_events(unit: bytes) -> None:
    data = unit * (READ // len(unit)) + b"data: cut"
    spent = []
    for _ in range(3):
        start = time.thread_time()
        fed = captured([data])
        spent.append(time.thread_time() - start)
        if spent[-1] < SECONDS:
            break
    assert min(spent) < SECONDS, spent
    assert b"".join(fed) == data
    assert len(fed) <= MAX_SPLIT + 2


def notes_of(count: int) -> list[Note]:
    return [Note("kind", f"choices[0].message.tool_calls[{at}].id", "a", "b") for at in range(count)]


@pytest.mark.parametrize("in_chain", [False, True])
def test_notes_are_looked_at_once(monkeypatch: pytest.MonkeyPatch, in_chain: bool) -> None:
    """A note with each event: none is read again for the events behind it."""
    read = 0
    name_of = module._name_of

    def counted(note: Note) -> object:
        nonlocal read
        read += 1
        return name_of(note)

    monkeypatch.setattr(module, "_name_of", counted)
    notes: list[Note] = []
    exchange: Any = SimpleNamespace(
        notes=notes, assembles_calls=False, accepts_late_ids=False, request={"schema": {"a": 1}}
    )
    if in_chain:
        first = SimpleNamespace(notes=notes_of(3), assembles_calls=False, accepts_late_ids=False)
        exchange = ChainExchange({}, [first, exchange])
    added = notes_of(2 * MAX_NOTES)
    captured([b"data: x\n\n"] * len(added), exchange, lambda _: notes.append(added[len(notes)]))
    assert read <= MAX_NOTES + 3


def test_notes_that_a_further_attempt_repeats_are_taken_once() -> None:
    schema = {"type": "object"}
    capture = Capture("r", "", time.perf_counter())
    for _ in range(2):
        repeated = [Note("schema", "tools[0]", {**schema}, {**schema, "x": 1}), *notes_of(2)]
        capture.exchange = SimpleNamespace(notes=repeated)
        capture.take_notes()
        repeated += notes_of(1)  # the same once more
        capture.take_notes()
    capture.finish(b"", [*repeated, Note("left_out", "messages[0]")])
    assert [note.kind for _, _, note in capture.notes] == ["schema", "kind", "kind", "kind", "left_out"]
