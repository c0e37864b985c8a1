"""Faults of non-streamed bodies: invalid JSON, wrong types, encodings, decompression bombs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.support.faulty_upstream.payloads import CA, CB, SB, bomb, completion, js, squeezed
from tests.support.faulty_upstream.response import FAULTS, FaultResponse, Headers, fault

GZIP: Headers = (("Content-Encoding", "gzip"),)
PRIVATE: Headers = (
    ("Set-Cookie", "sid=secret; Path=/"),
    ("Via", "1.1 inner"),
    ("X-Internal-Host", "db01"),
    ("Alt-Svc", 'h3=":443"'),
    ("Proxy-Authenticate", "Basic"),
    ("Strict-Transport-Security", "max-age=1"),
)


def _body_fault(
    name: str,
    about: str,
    make: Callable[[FaultResponse], Any],
    *,
    content_type: str | None = "application/json",
    extra: Headers = (),
) -> None:
    async def play(p: FaultResponse) -> None:
        await p.body(make(p), content_type=content_type, extra=extra)

    FAULTS[name] = (play, about)


def _good(p: FaultResponse) -> bytes:
    return js(completion(p.model))


def _with_content(p: FaultResponse, raw: bytes) -> bytes:
    return js(completion(p.model, "@@")).replace(b'"@@"', raw)


def _with_total(p: FaultResponse, raw: bytes) -> bytes:
    return _good(p).replace(b'"total_tokens":10', b'"total_tokens":' + raw)


def _called(name: str, call_id: str | None, arguments: Any) -> list[Any]:
    return [{"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}]


def _flood(p: FaultResponse) -> Any:
    return completion(p.model, SB + f"{CB}functions.f:0{CA}" * int(p.number("n", 20000)))


_body_fault("empty_200", "200, Content-Length: 0", lambda _: b"")
_body_fault("json_invalid", "JSON cut in the middle, length correct", lambda p: _good(p)[:60])
_body_fault("json_array", "200, a JSON array", lambda _: b"[1,2,3]")
_body_fault("json_null", "200, the JSON value null", lambda _: b"null")
_body_fault("json_no_choices", "choices missing", lambda _: {"id": "x", "object": "chat.completion"})
_body_fault("json_choices_empty", "choices: []", lambda p: {**completion(p.model), "choices": []})
_body_fault(
    "json_types_wrong",
    "content a number, tool_calls an object, arguments an object",
    lambda p: completion(p.model, 42, {"a": 1}),
)
_body_fault(
    "json_args_object",
    "tool arguments as an object, not a string; id null; name empty",
    lambda p: completion(p.model, None, _called("", None, {"a": 1})),
)
_body_fault(
    "json_deep",
    "100 000 nested arrays in content",
    lambda p: _with_content(p, b"[" * 100000 + b"]" * 100000),
)
_body_fault("json_bigint", "an integer of 20 000 digits in usage", lambda p: _with_total(p, b"9" * 20000))
_body_fault("json_nan", "NaN and Infinity in usage", lambda p: _with_total(p, b'NaN,"x":-Infinity'))
_body_fault(
    "json_dup_keys",
    "duplicate keys: model and choices given twice",
    lambda p: _good(p)[:-1] + b',"model":"second","choices":[]}',
)
_body_fault("json_surrogate", "a lone surrogate escape in content", lambda p: _with_content(p, b'"a\\ud800b"'))
_body_fault(
    "json_nul",
    "U+0000 in content and in a tool name",
    lambda p: completion(p.model, "a\x00b", _called("f\x00g", "functions.f\x00g:0", "{}")),
)
_body_fault("json_bom", "UTF-8 byte order mark before the JSON", lambda p: b"\xef\xbb\xbf" + _good(p))
_body_fault("json_utf16", "the JSON in UTF-16", lambda p: _good(p).decode().encode("utf-16"))
_body_fault("utf8_invalid", "bytes ff fe in the content string", lambda p: _with_content(p, b'"a\xff\xfeb"'))
_body_fault("ctype_text", "correct JSON labelled text/plain", _good, content_type="text/plain")
_body_fault("ctype_none", "correct JSON without Content-Type", _good, content_type=None)
_body_fault("json_for_stream", "a plain JSON completion even when a stream was requested", _good)
_body_fault("gzip_ok", "correct JSON, Content-Encoding: gzip", lambda p: squeezed(_good(p)), extra=GZIP)
_body_fault(
    "deflate_ok",
    "correct JSON, Content-Encoding: deflate (zlib)",
    lambda p: squeezed(_good(p), 15),
    extra=(("Content-Encoding", "deflate"),),
)
_body_fault("gzip_lie", "plain JSON labelled gzip", _good, extra=GZIP)
_body_fault("gzip_cut", "gzip stream cut in half, length correct", lambda p: squeezed(_good(p))[:80], extra=GZIP)
_body_fault(
    "gzip_bomb",
    "about 1000:1 gzip, inflates to mb=512 MiB",
    lambda p: bomb(min(2048, int(p.number("mb", 512)))),
    extra=GZIP,
)
_body_fault(
    "gzip_members",
    "20 000 tiny concatenated gzip members",
    lambda p: squeezed(b" ") * 20000 + squeezed(_good(p)),
    extra=GZIP,
)
_body_fault(
    "gzip_twice",
    "Content-Encoding: gzip, gzip",
    lambda p: squeezed(squeezed(_good(p))),
    extra=(("Content-Encoding", "gzip, gzip"),),
)
_body_fault("encoding_unknown", "Content-Encoding: x-zip", _good, extra=(("Content-Encoding", "x-zip"),))
_body_fault(
    "marker_flood",
    "content of n=20000 call-begin markers, never closed (quadratic-regex bait)",
    _flood,
)
_body_fault(
    "set_cookie",
    "correct, with Set-Cookie, Server, Via, x-internal headers to be stripped",
    _good,
    extra=PRIVATE,
)


@fault("huge_json", "a valid completion whose content has mb=64 MiB")
async def huge_json(p: FaultResponse) -> None:
    before, after = js(completion(p.model, "@@")).split(b"@@")
    size = int(p.number("mb", 64)) << 20
    await p.head(length=len(before) + size + len(after))
    await p.raw(before)
    for _ in range(size >> 16):
        await p.raw(b"y" * 65536)
    await p.raw(after)
