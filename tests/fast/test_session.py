"""The session that does not parse ordinary text gives what the plain one gives."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.support.assembly import assemble
from tests.support.cuts import every_cut

from moongate import BadUpstream, KimiTransformer
from moongate.chat.base import BaseExchange
from moongate.chat.contracts import Dialect, Encoder, Exchange
from moongate.chat.items import Chunk, Item
from moongate.dialects.fronts import CHAT, MESSAGES, RESPONSES
from moongate.errors import GatewayError
from moongate.fast.session import FastSession
from moongate.pipeline.session import Session

Row = dict[str, Any]
FRONTS: list[Dialect] = [CHAT, MESSAGES, RESPONSES]

SSE = "text/event-stream"
REQUEST: Row = {
    "messages": [{"role": "user", "content": "Go."}],
    "tools": [{"type": "function", "function": {"name": "f"}}],
}
CALL = "<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{}<|tool_call_end|>"


def event(text: str, field: str = "content", **more: Any) -> bytes:
    body = {"id": "c", "choices": [{"index": 0, "delta": {field: text}, "finish_reason": None}], **more}
    return b"data: " + json.dumps(body, ensure_ascii=False).encode() + b"\n\n"


TEXT = event("a")
END = b'data: {"id": "c", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}\n\n'
DONE = b"data: [DONE]\n\n"


def kimi(options: Row | None = None) -> Exchange:
    return KimiTransformer.from_config(options, model="kimi-k2").begin(REQUEST)


def encoder_of(front: Dialect) -> Encoder:
    return front.encoder({"model": "m", "input": "", "messages": []})


def begun(options: Row | None = None, front: Dialect = CHAT) -> FastSession:
    """A session that has read one text chunk."""
    session = FastSession(kimi(options), SSE, encoder_of(front))
    assert session.feed(TEXT)
    return session


def pieces(out: bytes) -> list[bytes]:
    """The deltas of a front's stream, without their numbers."""
    events = [json.loads(line[6:]) for line in out.splitlines() if line.startswith(b"data: {")]
    return [json.dumps({**each, "sequence_number": 0}).encode() for each in events]


def test_the_first_text_chunk_opens_the_pass_through() -> None:
    session = begun()
    passing = session.pass_through
    assert passing is not None
    assert passing.write is None
    assert passing.matcher.text(event("b"), passing.prefix) == b"b"
    assert session.feed(event("b")) == event("b")
    assert session.feed(event("b") + event("c")) == event("b") + event("c")
    assert session.pass_through is passing


@pytest.mark.parametrize("front", [MESSAGES, RESPONSES])
def test_a_front_of_blocks_writes_the_texts_of_one_read_as_one_delta(front: Dialect) -> None:
    session = begun(front=front)
    passing = session.pass_through
    assert passing is not None
    assert passing.write is not None
    (one,) = pieces(session.feed(event("b") + event("c")))
    assert b'"bc"' in one
    (two,) = pieces(session.feed(event("d")))
    assert b'"d"' in two
    assert session.feed(event("")) == b""
    (three,) = pieces(passing.write(b"e"))
    assert b'"e"' in three


@pytest.mark.parametrize("other", [TEXT[:9], b": hi\n\n", END, event("<")])
def test_anything_else_closes_the_pass_through(other: bytes) -> None:
    session = begun({"preset": "agent"})
    session.feed(other)
    assert session.pass_through is None


def test_text_opens_it_again() -> None:
    session = begun()
    session.feed(b": hi\n\n")
    assert session.pass_through is None
    assert session.feed(TEXT) == TEXT
    assert session.pass_through is not None
    session.feed(TEXT[:9])
    assert session.feed(TEXT[9:]) == TEXT
    assert session.pass_through is not None


def test_there_is_no_pass_through_without_text_or_while_an_event_is_incomplete() -> None:
    empty = FastSession(kimi(), SSE)
    empty.feed(event(""))
    assert empty.pass_through is None
    half = FastSession(kimi(), SSE)
    half.feed(TEXT + TEXT[:9])
    assert half.pass_through is None
    silent = FastSession(kimi({"manualToolParsing": True}), SSE)
    silent.feed(event("<|im_end|>"))
    assert silent.pass_through is None
    lines = FastSession(kimi(), "application/x-ndjson")
    assert lines.feed(TEXT[6:-1] + TEXT[6:-1]) == TEXT + TEXT
    assert lines.pass_through is None


class Looking(BaseExchange):
    def chunk(self, payload: Row) -> Row:
        return payload


class Loud:
    """An encoder of somebody's own."""

    failure: GatewayError | None = None

    def feed(self, item: Item) -> bytes:
        return b"[" + (item.raw if isinstance(item, Chunk) and item.raw else b"") + b"]"

    def close(self) -> bytes:
        return b"."


def test_unknown_exchanges_and_encoders_have_no_shortcut() -> None:
    for session in (FastSession(Looking({}), SSE), FastSession(BaseExchange({}), SSE, Loud())):
        out = [session.feed(TEXT) for _ in range(3)]
        assert out in ([TEXT] * 3, [b"[" + TEXT + b"]"] * 3)
        assert session.pass_through is None
    plain = FastSession(BaseExchange({}), SSE)
    plain.feed(TEXT)
    assert plain.pass_through is not None


@pytest.mark.parametrize("front", FRONTS)
@pytest.mark.parametrize("options", [{}, {"preset": "agent"}, {"assembleToolDeltas": True}])
def test_every_cut_gives_what_the_plain_session_gives(front: Dialect, options: Row) -> None:
    texts = ["b", "", "c\n", "é", "<", "d", "\u2028", CALL, "e", "f<", "g", "\x7f"]
    data = b"".join([TEXT, *map(event, texts), event("t", "reasoning_content"), TEXT, event("x", n=1), TEXT, END, DONE])
    plain = Session(kimi(options), SSE, encoder_of(front))
    expected = plain.feed(data) + plain.close()
    for cuts in every_cut(data):
        session = FastSession(kimi(options), SSE, encoder_of(front))
        out = b"".join([*map(session.feed, cuts), session.close()])
        if front is CHAT:
            assert out == expected
        assert session.finished
        assert session.failure is None


def test_text_with_markers_is_rewritten() -> None:
    session = begun({"manualToolParsing": True})
    held = event("b<")
    assert assemble(session.feed(TEXT + held), whole=False).summary()[0]["content"] == "ab"
    assert assemble(session.feed(held + event("c")), whole=False).summary()[0]["content"] == "<b<c"
    assert session.feed(event("<")) == b""
    (choice,) = assemble(session.feed(event(f"b{CALL}")), whole=False).summary()
    assert choice["content"] == "<b"
    assert choice["tool_calls"] == [{"id": "functions.f:0", "name": "f", "arguments": "{}"}]


def test_text_with_markers_in_chunks_that_have_more_members_is_read_the_plain_way() -> None:
    session = FastSession(kimi({"manualToolParsing": True}), SSE)
    for text in ("a", "b"):
        session.feed(event(text, provider_note=1))
    out = session.feed(event("c<", provider_note=1))
    assert assemble(out, whole=False).summary()[0]["content"] == "c"
    assert b'"provider_note":1' in out


def test_an_event_that_is_incomplete_for_long_is_not_copied_again_and_again() -> None:
    session = begun()
    long = event("x" * 5000)
    assert session.feed(long[:4500]) == session.feed(long[4500:4600]) == b""
    assert session.feed(long[4600:]) == long
    assert session.feed(TEXT[:40]) == session.feed(TEXT[40:45]) == b""
    assert session.feed(TEXT[45:] + TEXT[:9]) == TEXT
    assert session.feed(TEXT[9:]) == TEXT


@pytest.mark.parametrize("by_caller", [False, True])
@pytest.mark.parametrize("several", [False, True])
def test_text_that_is_too_much_for_the_front_ends_the_answer(
    monkeypatch: pytest.MonkeyPatch, by_caller: bool, several: bool
) -> None:
    monkeypatch.setattr("moongate.dialects.openai_responses.stream.MAX_ANSWER", 20)
    session = begun(front=RESPONSES)
    passing = session.pass_through
    assert passing is not None
    assert passing.write is not None
    long = event("x" * 30)
    if by_caller:  # as the chunk forwarder does
        out = passing.write(b"x" * 30) + session.close()
    else:
        out = session.feed(long + long + TEXT[:9] if several else long)
    assert out.count(b"event: response.failed") == 1
    assert session.finished
    assert session.pass_through is None
    assert "longer than the limit" in str(session.failure)
    assert session.feed(TEXT) == session.close() == b""


def test_nothing_is_written_behind_the_end() -> None:
    session = begun()
    session.fail(BadUpstream("gone"))
    assert session.feed(TEXT) == b""
    done = begun()
    done.feed(END + DONE)
    assert done.feed(TEXT) == done.close() == b""
    open_ = begun()
    assert assemble(open_.close()).error


def test_text_that_passes_the_guard_is_in_the_next_request_and_the_next_try_is_read_the_plain_way() -> None:
    function = {"name": "f", "parameters": {"type": "object", "required": ["a"]}}
    request = {**REQUEST, "tools": [{"type": "function", "function": function}], "seed": 1}  # the errors are shown
    exchange = KimiTransformer.from_config({"preset": "agent", "guard": "retry"}, model="kimi-k2").begin(request)
    session = FastSession(exchange, SSE)
    session.feed(TEXT)
    assert session.pass_through is not None
    assert session.feed(event("b")) == event("b")
    session.feed(event(CALL) + END + DONE)
    assert session.waiting
    wanted = exchange.next_request()
    assert wanted is not None
    assert [each["content"] for each in wanted["messages"] if each["role"] == "assistant"] == ["ab"]
    session.resume(SSE)
    assert not session.waiting
    assert b"again" in session.feed(event("again") + event("more"))
    assert session.pass_through is None
