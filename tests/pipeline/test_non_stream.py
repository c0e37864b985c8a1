"""One document, whatever framing came."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from moongate import BadUpstream, GatewayError, KimiTransformer, read_reply
from moongate.kimi.exchange import KimiExchange
from moongate.pipeline import non_stream as module

Row = dict[str, Any]

ANSWER: Row = {"id": "c", "choices": [{"index": 0, "message": {"content": "a"}, "finish_reason": "stop"}]}


def kimi(options: Row | None = None) -> KimiExchange:
    request = {"messages": [{"role": "user", "content": "Go."}]}
    return KimiTransformer.from_config(options, model="kimi-k2").begin_unguarded(request)


def event(delta: Row, reason: str | None = None) -> bytes:
    body = {"id": "c", "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}
    return b"data: " + json.dumps(body).encode() + b"\n\n"


CALL = {"index": 0, "id": "x", "type": "function", "function": {"name": "f", "arguments": '"{}"'}}
TEXT, CALLS, END, DONE = event({"content": "a"}), event({"tool_calls": [CALL]}), event({}, "stop"), b"data: [DONE]\n\n"


@pytest.mark.parametrize("data", [json.dumps(ANSWER).encode(), b"\xef\xbb\xbf\n" + json.dumps(ANSWER).encode()])
@pytest.mark.parametrize("content_type", ["application/json", "text/event-stream", ""])
def test_a_document_is_read(data: bytes, content_type: str) -> None:
    assert read_reply(kimi(), data, content_type) == ANSWER


def test_a_stream_is_put_together_and_judged_as_a_whole_answer() -> None:
    body = read_reply(kimi({"repairArguments": True}), TEXT + CALLS + END + DONE + TEXT, "text/event-stream")
    (choice,) = body["choices"]
    function = {"name": "f", "arguments": "{}"}
    assert choice["message"]["content"] == "a"
    assert choice["message"]["tool_calls"] == [{"id": "functions.f:0", "type": "function", "function": function}]
    assert choice["finish_reason"] == "tool_calls"


@pytest.mark.parametrize(
    ("content_type", "pieces", "ends"),
    [
        ("text/event-stream", [TEXT, b": x\n\n", END + DONE[:9], DONE[9:]], [False, False, False, True]),
        ("text/event-stream; charset=utf-8", [TEXT + END + DONE], [True]),
        ("text/event-stream", [event({"content": "[DONE]"}), b"data: x[DONE]\n\n"], [False, False]),
        ("", [b"data:[DONE] \r\n\r\n"], [True]),
        ("application/x-ndjson", [TEXT[6:-1], b"[DONE]\n"], [False, True]),
        ("application/json", [json.dumps(ANSWER).encode(), DONE], [False, False]),
        ("text/event-stream", [b"data: " + b"x" * 200, DONE, DONE], [False, False, False]),
    ],
)
def test_the_end_that_a_stream_says_itself(content_type: str, pieces: list[bytes], ends: list[bool]) -> None:
    watch = module.EndWatch(content_type, limit=150)
    assert [watch.feed(piece) for piece in pieces] == ends


def test_lines_are_put_together() -> None:
    lines = TEXT[6:-1] + END[6:-1]
    for content_type in ("application/x-ndjson", "application/json"):
        assert read_reply(kimi(), lines, content_type)["choices"][0]["message"]["content"] == "a"


def test_a_stream_with_done_and_without_a_finish_reason_gets_one() -> None:
    body = read_reply(kimi(), TEXT + DONE, "text/event-stream")
    assert body["choices"][0]["finish_reason"] == "stop"
    off = kimi({"enforceFinishReasonLoop": False})
    assert read_reply(off, TEXT + DONE, "text/event-stream")["choices"][0]["finish_reason"] is None


def test_an_id_behind_the_name_counts_only_if_ids_are_left_alone() -> None:
    late = [event({"tool_calls": [entry]}) for entry in ({**CALL, "id": None}, {"index": 0, "id": "functions.f:7"})]
    data = b"".join([*late, event({}, "tool_calls"), DONE])
    for options, expected in (({}, "functions.f:0"), ({"repairOnMismatch": False}, "functions.f:7")):
        body = read_reply(kimi(options), data, "text/event-stream")
        assert body["choices"][0]["message"]["tool_calls"][0]["id"] == expected


def test_a_name_in_pieces_is_read_by_the_rules_for_streams() -> None:
    pieces = [{**CALL, "function": {"name": "get_"}}, {"index": 0, "function": {"name": "weather", "arguments": "{}"}}]
    data = b"".join([*(event({"tool_calls": [piece]}) for piece in pieces), event({}, "tool_calls"), DONE])
    tool = {"type": "function", "function": {"name": "get_weather"}}
    request = {"messages": [{"role": "user", "content": "Go."}], "tools": [tool]}
    body = read_reply(KimiTransformer().begin(request), data, "text/event-stream")
    assert body["choices"][0]["message"]["tool_calls"] == [
        {"id": "functions.get_weather:0", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}
    ]


@pytest.mark.parametrize(
    ("data", "content_type"),
    [
        (b"", "application/json"),
        (b"[]", "application/json"),
        (b"{}", "application/json"),
        (b"{}", ""),
        (TEXT, "text/event-stream"),
        (DONE, "text/event-stream"),
        (TEXT + b"data: {\n\n", "text/event-stream"),
        (b": ping\n\n", "text/event-stream"),
    ],
)
def test_what_is_no_answer_is_an_error(data: bytes, content_type: str) -> None:
    with pytest.raises(BadUpstream):
        read_reply(kimi(), data, content_type)


@pytest.mark.parametrize("framed", [b'{"error":{"message":"busy","code":429}}', b'data: {"error":{"code":429}}\n\n'])
def test_an_error_of_the_provider_is_raised_and_the_exchange_learns_of_it(framed: bytes) -> None:
    exchange = kimi()
    with pytest.raises(GatewayError) as caught:
        read_reply(exchange, framed, "application/json")
    assert caught.value.status == 429
    assert exchange.verdict.worth == "failed"


@pytest.mark.parametrize("data", [json.dumps(ANSWER).encode(), b"\n" + json.dumps(ANSWER).encode()])
def test_an_answer_that_is_too_large_is_refused(data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "DOCUMENT_LIMIT", 20)
    with pytest.raises(BadUpstream):
        read_reply(kimi(), data, "application/json")


@pytest.mark.parametrize("kind", ["application/json", "text/event-stream", "application/x-ndjson", ""])
def test_an_answer_with_too_many_values_is_not_parsed(kind: str) -> None:
    data = b'{"choices":[{"message":{"content":"Ho"},"finish_reason":"stop"}],"x":[' + b"[]," * 600_000 + b"[]]}"
    exchange = KimiTransformer().begin_unguarded({"messages": [{"role": "user", "content": "Hi"}]})
    with pytest.raises(BadUpstream):
        read_reply(exchange, data, kind)


def test_a_stream_with_too_many_values_is_not_read_as_a_whole() -> None:
    """Each of its events is small, but all are in memory at once."""
    data = TEXT + b'data: {"x":[[[[[[[]]]]]]]}\n\n' * 250_000 + END + DONE
    with pytest.raises(BadUpstream, match="too large"):
        read_reply(kimi(), data, "text/event-stream")


def test_an_unchanged_document_is_known_as_such() -> None:
    data = b'{"choices": [{"index": 0, "message": {"content": "Ho"}, "finish_reason": "stop"}]}'
    for content_type, unchanged in (("application/json", True), ("text/plain", False)):
        exchange = KimiTransformer().begin({"messages": [{"role": "user", "content": "Hi"}]})
        reply, is_same = module.reply_of(exchange, data, content_type)
        assert (reply["choices"][0]["message"]["content"], is_same) == ("Ho", unchanged)


def test_a_document_with_an_error_is_no_reply() -> None:
    exchange = KimiTransformer().begin({"messages": [{"role": "user", "content": "Hi"}]})
    with pytest.raises(GatewayError, match="no"):
        module.reply_of(exchange, b'{"error": {"message": "no"}}', "application/json")


@pytest.mark.parametrize(
    "unit", [b":\n\n", b"id\n\n", b": \r\n\r\n", b":\r\r", b"data: [DONE]x\n\n", b"data: x[DONE]\n"]
)
def test_many_small_events_cost_the_watch_next_to_nothing(unit: bytes) -> None:
    data = unit * ((1 << 18) // len(unit))
    spent = []
    for _ in range(3):
        watch = module.EndWatch("text/event-stream")
        start = time.thread_time()
        assert not watch.feed(data)
        spent.append(time.thread_time() - start)
        if spent[-1] < 0.02:
            break
    assert min(spent) < 0.02, spent


def test_a_marker_inside_of_a_long_event_is_no_end() -> None:
    watch = module.EndWatch("text/event-stream")
    assert not watch.feed(b"data: " + b"x" * 2000 + b"\n")
    assert not watch.feed(b"data: [DONE]\n\n")
    assert watch.feed(b": \n\ndata: [DONE]\r\n\r\n" + b"data: more [DONE]\n\n")
