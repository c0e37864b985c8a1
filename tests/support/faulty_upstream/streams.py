"""Faults of event streams: cut, malformed, mislabelled, too large, without an end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tests.support.faulty_upstream.payloads import (
    BOOM,
    CA,
    CB,
    CE,
    DONE,
    SB,
    JsonObject,
    call,
    chunk,
    event,
    js,
    squeezed,
)
from tests.support.faulty_upstream.response import FAULTS, FaultResponse, Headers, fault


def _sse_fault(
    name: str,
    about: str,
    make: Callable[[FaultResponse], Sequence[Any]],
    *,
    extra: Headers = (),
    content_type: str = "text/event-stream; charset=utf-8",
) -> None:
    async def play(p: FaultResponse) -> None:
        await p.sse_head(extra, content_type)
        await p.sse(*make(p))
        await p.end()

    FAULTS[name] = (play, about)


def _rewritten(rewrite: Callable[[bytes], bytes]) -> Callable[[FaultResponse], list[bytes]]:
    """The correct stream as one byte string, rewritten, cut into 37-byte pieces."""

    def make(p: FaultResponse) -> list[bytes]:
        data = rewrite(b"".join(p.events()))
        return [data[at : at + 37] for at in range(0, len(data), 37)]

    return make


def _begun(p: FaultResponse) -> list[Any]:
    """The role and three texts."""
    return p.events()[:4]


def _inserted(p: FaultResponse, at: int, *items: Any) -> list[Any]:
    events: list[Any] = list(p.events())
    return [*events[:at], *items, *events[at:]]


def _deltas(p: FaultResponse, *calls: JsonObject, finish: str) -> list[Any]:
    body = [chunk(p.model, {"tool_calls": [each]}) for each in calls]
    return [*body, chunk(p.model, {}, finish), DONE]


def _finish_error(p: FaultResponse) -> list[Any]:
    failed = {"code": 502, "message": "Provider disconnected"}
    return [*_begun(p), chunk(p.model, {"content": ""}, "error", error=failed), DONE]


def _odd_types(p: FaultResponse) -> list[Any]:
    odd: tuple[Any, ...] = (
        None,
        7,
        [],
        {"choices": None},
        {"choices": [{"index": 0, "delta": None}]},
        {"choices": [None]},
    )
    return _inserted(p, 2, *(event(each) for each in odd))


def _odd_texts(p: FaultResponse) -> list[Any]:
    lone = js(chunk(p.model, {"content": "@@"})).replace(b'"@@"', b'"\\ud83d"')
    return _inserted(p, 2, chunk(p.model, {"content": "a\x00b"}), event(lone))


def _bad_utf8(p: FaultResponse) -> list[Any]:
    return _inserted(p, 3, event(js(chunk(p.model, {"content": "@@"})).replace(b"@@", b"a\xff\xfeb")))


def _odd_indexes(p: FaultResponse) -> list[Any]:
    calls = [call(i, f"functions.f:{n}", "f", "{}") for n, i in enumerate((10**9, -1, "0", None, 0))]
    return _deltas(p, *calls, {"id": "x", "function": {"name": "g", "arguments": "{}"}}, finish="tool_calls")


def _interleaved(p: FaultResponse) -> list[Any]:
    begun = (call(1, "functions.b:1", "b", '{"x'), call(0, "functions.a:0", "a", '{"y'))
    later = (call(1, None, None, '": 1'), call(0, None, None, '": 2}'), call(1, None, None, "}"))
    return _deltas(p, *begun, *later, finish="stop")


def _bad_ids(p: FaultResponse) -> list[Any]:
    ids = ("", "call_abc", "call_abc", "functions.f:x", f"a {CE} b")
    return _deltas(p, *(call(n, i, "f", "{}") for n, i in enumerate(ids)), finish="stop")


_sse_fault("sse_empty", "an event stream with no bytes, cleanly ended", lambda _: [])
_sse_fault("sse_done_only", "[DONE] and nothing else", lambda _: [DONE])
_sse_fault("sse_error_first", "200, the first event is an error object", lambda _: [BOOM, DONE])
_sse_fault("sse_error_mid", "three tokens, an error object, no [DONE]", lambda p: [*_begun(p), BOOM])
_sse_fault("sse_error_mid_done", "three tokens, an error object, [DONE]", lambda p: [*_begun(p), BOOM, DONE])
_sse_fault(
    "sse_event_error",
    "three tokens, then 'event: error' with a plain-text data line",
    lambda p: [*_begun(p), event(b"upstream exploded", "error")],
)
_sse_fault("sse_finish_error", "three tokens, finish_reason 'error' beside an error field", _finish_error)
_sse_fault("sse_no_done", "finish_reason sent, clean end, no [DONE]", lambda p: p.events(done=False))
_sse_fault(
    "sse_no_finish",
    "tokens, clean end; neither finish_reason nor [DONE]",
    lambda p: p.events(done=False, finish=None),
)
_sse_fault("sse_done_no_finish", "tokens and [DONE], but no finish_reason", lambda p: p.events(finish=None))
_sse_fault("sse_after_done", "more tokens and a second [DONE] after [DONE]", lambda p: p.events() + p.events(["LATE"]))
_sse_fault(
    "sse_cut_event",
    "the last event lacks its blank line",
    lambda p: [*p.events(done=False)[:-1], b'data: {"choices":[{"index":0,"delta":{"content":"cut'],
)
_sse_fault("sse_crlf", "CRLF line ends", _rewritten(lambda b: b.replace(b"\n", b"\r\n")))
_sse_fault("sse_cr", "bare CR line ends", _rewritten(lambda b: b.replace(b"\n", b"\r")))
_sse_fault("sse_bom", "byte order mark before the stream", _rewritten(lambda b: b"\xef\xbb\xbf" + b))
_sse_fault(
    "sse_fields",
    "comments, id, retry, unknown fields, no space after the colon",
    _rewritten(lambda b: b": hi\n\n" + b.replace(b"data: ", b"id: 7\nretry: 10\nfoo: bar\n:c\ndata:")),
)
_sse_fault(
    "sse_multiline",
    "one JSON object spread over several data: lines",
    _rewritten(lambda b: b.replace(b',"object"', b',\ndata: "object"')),
)
_sse_fault(
    "sse_split_utf8",
    "every byte its own HTTP chunk, so characters are split",
    lambda p: [bytes((byte,)) for byte in b"".join(p.events())],
)
_sse_fault("sse_one_write", "the whole stream in one HTTP chunk", lambda p: [b"".join(p.events())])
_sse_fault("sse_invalid_utf8", "bytes ff fe inside one event", _bad_utf8)
_sse_fault("sse_invalid_json", "one event in the middle is not JSON", lambda p: _inserted(p, 3, b"data: {oops\n\n"))
_sse_fault("sse_json_types", "events that are null, a number, an array, choices null, delta null", _odd_types)
_sse_fault("sse_nul", "U+0000 and a lone surrogate in deltas", _odd_texts)
_sse_fault(
    "sse_gzip",
    "the whole stream gzip-compressed",
    lambda p: [squeezed(b"".join(p.events()))],
    extra=(("Content-Encoding", "gzip"),),
)
_sse_fault(
    "sse_wrong_ctype",
    "a correct stream labelled application/json",
    lambda p: p.events(),
    content_type="application/json",
)
_sse_fault("sse_for_json", "a correct event stream even when no stream was requested", lambda p: p.events())
_sse_fault("sse_tool_index", "tool deltas with index 10**9, -1, '0', null, and none", _odd_indexes)
_sse_fault("sse_tool_interleaved", "two calls whose argument deltas alternate, out of index order", _interleaved)
_sse_fault(
    "sse_tool_cut",
    "a call whose arguments stop halfway, finish_reason length",
    lambda p: _deltas(p, call(0, "functions.f:0", "f", '{"path": "/tm'), finish="length"),
)
_sse_fault("sse_tool_bad_ids", "ids empty, duplicated, foreign, with spaces and markers inside", _bad_ids)
_sse_fault(
    "sse_marker_cut",
    "K2 section opened, never closed, then [DONE]",
    lambda p: p.events(["Hi ", SB, CB, "functions.f:0", CA, '{"a":']),
)
_sse_fault(
    "sse_marker_flood",
    "n=5000 call-begin markers, one a delta, never closed",
    lambda p: p.events([SB] + [CB] * int(p.number("n", 5000))),
)


@fault("sse_big_line", "one data: line of mb=100 MiB with no line end until its end")
async def sse_big_line(p: FaultResponse) -> None:
    await p.sse_head()
    await p.sse(*p.events()[:2])
    await p.chunk(b'data: {"choices":[{"index":0,"delta":{"content":"')
    for _ in range(int(p.number("mb", 100) * 16)):
        await p.chunk(b"z" * 65536)
    await p.chunk(b'"}}]}\n\n')
    await p.sse(*p.events()[2:])
    await p.end()


@fault("sse_big_event", "one event of n=2 000 000 data: lines, never dispatched")
async def sse_big_event(p: FaultResponse) -> None:
    await p.sse_head()
    for _ in range(int(p.number("n", 2000000)) // 2000):
        await p.chunk(b"data: 0123456789\n" * 2000)
    await p.end()


@fault("sse_endless", "tokens as fast as the socket takes them, until a bound of this program")
async def sse_endless(p: FaultResponse) -> None:
    await p.sse_head()
    block = event(chunk(p.model, {"content": " token"})) * 200
    while True:
        await p.chunk(block)


@fault("sse_flood", "n=50 000 small events as fast as possible, then a correct end")
async def sse_flood(p: FaultResponse) -> None:
    await p.sse_head()
    block = event(chunk(p.model, {"content": " x"})) * 100
    for _ in range(int(p.number("n", 50000)) // 100):
        await p.chunk(block)
    await p.sse(chunk(p.model, {}, "stop"), DONE)
    await p.end()


@fault("sse_comments_only", "keep-alive comments every delay=0.2 s and never an event")
async def sse_comments_only(p: FaultResponse) -> None:
    await p.sse_head()
    while True:
        await p.chunk(b": PROCESSING\n\n", p.number("delay", 0.2))


@fault("sse_pings_then_ok", "n=10 comments, delay=0.2 s apart, then a correct stream")
async def sse_pings_then_ok(p: FaultResponse) -> None:
    await p.sse_head()
    for _ in range(int(p.number("n", 10))):
        await p.chunk(b": PROCESSING\n\n", p.number("delay", 0.2))
    await p.sse(*p.events())
    await p.end()
