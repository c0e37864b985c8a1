"""JSON and bytes that the faults send."""

from __future__ import annotations

import functools
import json
import struct
import zlib
from collections.abc import Sequence
from typing import Any, Final

JsonObject = dict[str, Any]

TEXT: Final = ("Hello", " from", " the", " faulty", " upstream", " — héllo 你好 🚀", ".")
FULL: Final = "".join(TEXT)
SB, SE = "<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"
CB, CA, CE = "<|tool_call_begin|>", "<|tool_call_argument_begin|>", "<|tool_call_end|>"
K2: Final = (
    f'Let me look.{SB}{CB}functions.get_weather:0{CA}{{"city": "París"}}{CE}'
    f'{CB}functions.get_time:1{CA}{{"tz": "CET"}}{CE}{SE}'
)
DONE: Final = b"data: [DONE]\n\n"
USAGE: Final = {"prompt_tokens": 3, "completion_tokens": 7, "total_tokens": 10}


def js(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def completion(model: str, content: Any = FULL, tool_calls: Any = None, finish: str | None = None) -> JsonObject:
    message = {"role": "assistant", "content": content}
    if tool_calls is not None:
        message["tool_calls"] = tool_calls
    finish = finish or ("tool_calls" if tool_calls else "stop")
    return {
        "id": "chatcmpl-faulty",
        "object": "chat.completion",
        "created": 1700000000,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": dict(USAGE),
    }


def chunk(model: str, delta: Any, finish: str | None = None, **more: Any) -> JsonObject:
    return {
        "id": "chatcmpl-faulty",
        "object": "chat.completion.chunk",
        "created": 1700000000,
        "model": model,
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        **more,
    }


def event(value: Any, name: str | None = None) -> bytes:
    """One server-sent event; bytes are its data as they are."""
    head = b"event: " + name.encode() + b"\n" if name else b""
    return head + b"data: " + (value if isinstance(value, bytes) else js(value)) + b"\n\n"


def stream_events(
    model: str, texts: Sequence[str] = TEXT, *, done: bool = True, finish: str | None = "stop"
) -> list[bytes]:
    """A correct stream: role, texts, finish, usage, `[DONE]`; without a finish no usage either."""
    out = [event(chunk(model, {"role": "assistant", "content": ""}))]
    out += [event(chunk(model, {"content": text})) for text in texts]
    if finish:
        out.append(event(chunk(model, {}, finish)))
        out.append(event({**chunk(model, {}, None, usage=dict(USAGE)), "choices": []}))
    return [*out, DONE] if done else out


def call(index: Any, call_id: str | None, name: str | None, arguments: str | None) -> JsonObject:
    function: JsonObject = {}
    body: JsonObject = {"index": index, "function": function}
    if call_id is not None:
        body |= {"id": call_id, "type": "function"}
    if name is not None:
        function["name"] = name
    if arguments is not None:
        function["arguments"] = arguments
    return body


def error(message: str, kind: str = "server_error", code: str | None = None) -> JsonObject:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


BOOM: Final = error("The server had an error while processing your request")


def squeezed(data: bytes, wbits: int = 31) -> bytes:
    """gzip (31) or zlib (15)."""
    z = zlib.compressobj(9, zlib.DEFLATED, wbits)
    return z.compress(data) + z.flush()


@functools.lru_cache(maxsize=4)
def bomb(mb: int) -> bytes:
    """gzip of a completion whose content is mb MiB of 'a' (about 1000:1): one compressed block, repeated."""
    before, after = js(completion("bomb", "@@")).split(b"@@")
    block = b"a" * (1 << 20)
    z = zlib.compressobj(9, zlib.DEFLATED, -15)
    first = z.compress(before) + z.flush(zlib.Z_FULL_FLUSH)
    piece = z.compress(block) + z.flush(zlib.Z_FULL_FLUSH)
    last = z.compress(after) + z.flush()
    crc = zlib.crc32(before)
    for _ in range(mb):
        crc = zlib.crc32(block, crc)
    size = (len(before) + len(after) + (mb << 20)) & 0xFFFFFFFF
    tail = struct.pack("<II", zlib.crc32(after, crc), size)
    return b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03" + first + piece * mb + last + tail
