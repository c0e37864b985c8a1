"""Bytes of one streamed answer in, bytes for the client out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from tests.support.assembly import assemble
from tests.support.cuts import every_cut

from moongate import BadUpstream, KimiTransformer
from moongate.chat.base import BaseExchange
from moongate.chat.contracts import Dialect, Exchange
from moongate.chat.items import Chunk, Done, Failure, Item
from moongate.chat.requested_usage import UsageFilter
from moongate.dialects.fronts import MESSAGES, RESPONSES
from moongate.errors import GatewayError
from moongate.pipeline.non_stream import read_reply
from moongate.pipeline.session import Session

Row = dict[str, Any]

REQUEST: Row = {"messages": [{"role": "user", "content": "Go."}]}
SSE = "text/event-stream"


def event(delta: Row, reason: str | None = None, **more: Any) -> bytes:
    body = {"id": "c", "choices": [{"index": 0, "delta": delta, "finish_reason": reason}], **more}
    return b"data: " + json.dumps(body).encode() + b"\n\n"


TEXT, END, DONE = event({"content": "a"}), event({}, "stop"), b"data: [DONE]\n\n"


def kimi(options: Row | None = None) -> Exchange:
    return KimiTransformer.from_config(options, model="kimi-k2").begin(REQUEST)


def run(parts: list[bytes], content_type: str = SSE, exchange: Exchange | None = None) -> tuple[bytes, Session]:
    session = Session(exchange or kimi(), content_type)
    return b"".join([*(session.feed(part) for part in parts), session.close()]), session


def test_a_complete_stream_leaves_as_it_came() -> None:
    data = TEXT + b": ping\n\n" + TEXT * 40 + END + DONE
    for size in (1, 7, 150, 1000, len(data)):
        out, session = run([data[at : at + size] for at in range(0, len(data), size)])
        assert out == data
        assert session.started
        assert session.finished
        assert session.failure is None


def test_a_stream_of_endless_calls_ends_with_an_error() -> None:
    """Some of each call is kept, to the end of the stream."""
    data = [event({"tool_calls": [{"index": at, "id": f"c{at}", "function": {"name": "f"}}]}) for at in range(16_385)]
    out, session = run([*data, END, DONE])
    assert isinstance(session.failure, BadUpstream)
    assert b"longer than the limit" in out
    assert b"[DONE]" not in out


def test_a_stream_may_say_as_much_as_a_document() -> None:
    session = Session(kimi(), SSE, document_limit=100)
    assert session.feed(event({"content": "a" * 100}))
    assert session.failure is None
    assert b"longer than the limit" in session.feed(TEXT)
    assert session.finished


def test_nothing_is_read_behind_done() -> None:
    out, session = run([TEXT + END + DONE + TEXT, TEXT])
    assert out == TEXT + END + DONE
    assert session.feed(TEXT) == b""
    assert session.close() == b""
    assert session.fail(BadUpstream("late")) == b""


def test_a_missing_done_is_added_if_every_choice_has_finished() -> None:
    assert run([TEXT + END])[0] == TEXT + END + DONE


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n\n",
        DONE,
        TEXT,
        TEXT + b"data: {",
        TEXT + b"data: {\n\n",
        TEXT + b"data: 7\n\n",
        b": ping\n\n",
        b"<html>",
    ],
)
def test_what_is_cut_or_malformed_ends_with_an_error(data: bytes) -> None:
    whole, session = run([data])
    assert whole.startswith(TEXT if TEXT in data else b"")
    assert session.failure is not None
    assert session.failure.status == 502
    assert session.finished
    seen = assemble(whole)
    assert seen.error["type"] == "upstream_error"
    assert not seen.done
    for cuts in every_cut(data):
        assert run(cuts)[0] == whole


def test_an_error_of_the_provider_ends_the_stream_with_its_own_message() -> None:
    error = b'data: {"error":{"message":"busy","code":429}}\n\n'
    out, session = run([TEXT + error + TEXT + DONE])
    assert out == TEXT + error
    assert session.failure is not None
    assert (session.failure.status, session.failure.message) == (429, "busy")


def test_an_event_that_is_too_large_is_an_error_behind_what_came_before() -> None:
    session = Session(kimi(), SSE, limit=200)
    out = session.feed(TEXT + b"data: " + b"x" * 300)
    assert out.startswith(TEXT)
    assert assemble(out).error
    assert session.finished


def test_an_error_and_an_overflow_in_one_read_are_one_error() -> None:
    session = Session(kimi(), SSE, limit=200)
    assert session.feed(b"data: 7\n\ndata: " + b"x" * 300).count(b"error") >= 1
    assert session.failure is not None
    assert "JSON object" in session.failure.message


def test_the_caller_may_end_it_with_an_error_of_its_own() -> None:
    session = Session(kimi({"manualToolParsing": True}), SSE)
    session.feed(event({"content": "a<"}))
    out = session.fail(BadUpstream("gone"))
    assert [choice.content for choice in assemble(out).choices.values()] == ["<"]
    assert session.failure is not None
    assert session.failure.message == "gone"


def test_the_usage_is_kept() -> None:
    usage = {"total_tokens": 3}
    _, session = run([TEXT + event({}, "stop", usage=usage) + DONE])
    assert session.usage == usage
    assert run([TEXT + event({}, "stop", usage="odd") + DONE])[1].usage is None


def test_ndjson_becomes_server_sent_events() -> None:
    lines = TEXT[6:-1] + END[6:-1]
    for cuts in every_cut(lines):
        assert run(cuts, "application/x-ndjson")[0] == TEXT + END + DONE


def test_a_document_becomes_a_stream() -> None:
    call = {"id": "x", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    body = {
        "id": "c",
        "choices": [{"index": 0, "message": {"content": "a", "tool_calls": [call]}, "finish_reason": "stop"}],
        "usage": {"total_tokens": 1},
    }
    out, session = run([json.dumps(body).encode()], "application/json")
    (choice,) = assemble(out).summary()
    assert choice["tool_calls"] == [{"id": "functions.f:0", "name": "f", "arguments": "{}"}]
    assert choice["finish_reason"] == "tool_calls"
    assert session.usage == {"total_tokens": 1}
    out, _ = run([json.dumps(body).encode()], "application/json", kimi({"assembleToolDeltas": True}))
    assert assemble(out).choices[0].message["tool_calls"][0]["id"] == "functions.f:0"


@pytest.mark.parametrize("body", [b"{}", b"[", b'{"choices":[]}', b'{"error":"no"}'])
def test_a_document_that_is_no_answer_is_an_error(body: bytes) -> None:
    out, session = run([body], "application/json")
    assert assemble(out).error
    assert session.started
    assert session.failure is not None


# Exchanges of other people


class Raising(BaseExchange):
    def feed(self, item: Item) -> Sequence[Item]:
        raise BadUpstream("I give up")


class Swallowing(BaseExchange):
    """Keeps `[DONE]`, and adds something at the end."""

    def feed(self, item: Item) -> Sequence[Item]:
        return () if isinstance(item, Done) else (item,)

    def close(self) -> Sequence[Item]:
        return (Chunk.of({"choices": []}),)


class Ending(BaseExchange):
    """Ends with `[DONE]` whatever comes."""

    def feed(self, item: Item) -> Sequence[Item]:
        return (item, Done())


def test_an_error_in_an_exchange_ends_the_stream() -> None:
    out, session = run([TEXT], exchange=Raising({}))
    assert assemble(out).error["message"] == "I give up"
    assert session.finished


def test_done_is_written_even_if_an_exchange_keeps_it() -> None:
    assert run([TEXT + END + DONE], exchange=Swallowing({}))[0] == TEXT + END + b'data: {"choices":[]}\n\n' + DONE


def test_no_exchange_can_make_a_success_of_a_failure() -> None:
    out, session = run([b"data: 7\n\n"], exchange=Ending({}))
    assert not assemble(out).done
    assert session.failure is not None


# Encoders of other dialects


class Loud:
    failure: GatewayError | None = None

    def feed(self, item: Item) -> bytes:
        if isinstance(item, Failure):
            return b"FAILED"
        return b"[" + (item.raw if isinstance(item, Chunk) and item.raw else b"") + b"]"

    def close(self) -> bytes:
        return b"."


def test_an_encoder_writes_items_and_is_closed_once() -> None:
    session = Session(kimi(), SSE, Loud())
    assert session.feed(TEXT + TEXT) == b"[" + TEXT + b"][" + TEXT + b"]"
    assert session.feed(TEXT + END) == b"[" + TEXT + b"][" + END + b"]"
    assert session.feed(DONE) == b"[]."
    assert session.close() == b""
    failed = Session(kimi(), SSE, Loud())
    assert failed.close() == b"FAILED."


def test_an_encoder_that_breaks_ends_the_stream_as_a_failure() -> None:
    class Brittle(Loud):
        def feed(self, item: Item) -> bytes:
            self.failure = BadUpstream("too much at once")
            return b"BROKEN"

    session = Session(kimi(), SSE, Brittle())
    assert session.feed(TEXT + TEXT) == b"BROKEN."
    assert session.finished
    assert session.failure is not None
    assert "too much" in str(session.failure)
    assert session.feed(DONE) == session.close() == b""


@pytest.mark.parametrize("front", [MESSAGES, RESPONSES])
def test_an_answer_is_known_by_its_id_though_its_first_chunk_was_all_markup(front: Dialect) -> None:
    session = Session(kimi({"preset": "agent"}), SSE, front.encoder({"model": "m", "input": ""}))
    assert session.feed(event({"content": "<|im_end|>"})) == b""
    assert b'_c"' in session.feed(TEXT)


USAGE: Row = {"prompt_tokens": 1, "completion_tokens": 2}


@pytest.mark.parametrize("end", [END, b""], ids=["finished", "without a finish"])
def test_usage_that_the_client_has_not_asked_for_is_known_and_taken_out(end: bytes) -> None:
    usage_chunk = b"data: " + json.dumps({"id": "c", "choices": [], "usage": USAGE}).encode() + b"\n\n"
    asked, hidden = Session(kimi(), SSE), Session(kimi(), SSE)
    hidden.usage_filter = UsageFilter()
    data = TEXT + end + usage_chunk + DONE
    with_usage, without = asked.feed(data), hidden.feed(data)
    assert b"prompt_tokens" in with_usage
    assert b"usage" not in without
    assert asked.usage == hidden.usage == USAGE
    assert assemble(without).choices == assemble(with_usage).choices
    if end:
        assert without == TEXT + END + DONE


def guarded_stream(arguments: str, tokens: int) -> bytes:
    call = {"index": 0, "id": "functions.f:0", "type": "function", "function": {"name": "f", "arguments": arguments}}
    choice = {"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": "tool_calls"}
    return (
        b"data: "
        + json.dumps({"id": "c", "choices": [choice], "usage": {"completion_tokens": tokens}}).encode()
        + b"\n\n"
    )


def guarded_exchange() -> Exchange:
    schema = {"type": "object", "required": ["a"]}
    tool = {"type": "function", "function": {"name": "f", "parameters": schema}}
    request = {"messages": [{"role": "user", "content": "Hi"}], "tools": [tool], "stream": True}
    return KimiTransformer.from_config({"preset": "strict"}, model="kimi-k2").begin(request)


def guarded_session() -> Session:
    return Session(guarded_exchange(), SSE)


def test_an_answer_that_waits_for_another_try_is_settled_without_one() -> None:
    session = guarded_session()
    session.feed(guarded_stream("{}", 5) + b"data: [DONE]\n\n")
    assert session.waiting
    assert session.feed(b"data: {}\n\n") == session.close() == b""
    assert session.settle().endswith(b"data: [DONE]\n\n")
    assert session.settle() == b""
    assert session.usage == {"completion_tokens": 5}


def test_a_broken_try_leaves_the_answer_before_it() -> None:
    session = guarded_session()
    session.feed(guarded_stream("{}", 5) + b"data: [DONE]\n\n")
    session.resume("text/event-stream")
    assert session.fail(BadUpstream("gone")).endswith(b"data: [DONE]\n\n")
    assert session.failure is None


@pytest.mark.parametrize("resumed", [False, True], ids=["while it waits", "during the try"])
def test_the_usage_of_a_held_answer_is_known_when_the_client_leaves(resumed: bool) -> None:
    session = guarded_session()
    session.feed(guarded_stream("{}", 5) + b"data: [DONE]\n\n")
    if resumed:
        session.resume("text/event-stream")
        session.feed(b'data: {"id":"c","choices":[{"index":0,"delta":{"content":"I"}}]}\n\n')
    assert session.usage is None
    session.abandon()
    assert session.usage == {"completion_tokens": 5}
    assert session.finished


def test_a_client_that_leaves_changes_nothing_of_an_ordinary_answer() -> None:
    session = guarded_session()
    session.feed(guarded_stream('{"a":1}', 5))
    session.abandon()
    assert not session.finished


def guarded_document(arguments: str) -> bytes:
    call = {"id": "functions.f:0", "type": "function", "function": {"name": "f", "arguments": arguments}}
    return json.dumps({"choices": [{"message": {"tool_calls": [call]}, "finish_reason": "tool_calls"}]}).encode()


def test_a_document_waits_for_another_try_that_may_be_one_too() -> None:
    session = Session(guarded_exchange(), "application/json")
    assert session.feed(guarded_document("{}")) == session.close() == b""
    assert session.waiting
    session.resume("application/json")
    assert session.feed(guarded_document('{"a":1}')) == b""
    (choice,) = assemble(session.close()).summary()
    assert [each["arguments"] for each in choice["tool_calls"]] == ['{"a":1}']
    assert session.finished


def test_the_size_of_an_answer_counts_every_try() -> None:
    session = guarded_session()
    session.feed(guarded_stream("{}", 5) + DONE)
    first = session.size
    assert first > len("{}")
    session.resume(SSE)
    session.feed(TEXT)
    assert session.size == first + len("a")


def test_a_web_page_is_no_answer() -> None:
    _, session = run([b"<!doctype html><html>Welcome</html>"], "text/html")
    assert session.failure is not None
    assert session.failure.code == "web_page"
    with pytest.raises(BadUpstream, match="web page"):
        read_reply(kimi(), b"<html>Welcome</html>", "text/html")
