"""A fast fake provider: answers are made once, written as they are. It must never be the bottleneck.

The model's name says what to play: `small` answers one document at once; `text-N-MS` streams N chunks of ordinary
text, one write every MS milliseconds (0: as fast as it can); `text-N-MS-SIZE-PER` with SIZE characters a chunk and
PER chunks a write; `markers-N-MS` streams marker calls and nothing else; `call-N-MS` and `marked-N-MS` stream text that
ends in one native call or in one marker call, N chunks in all; `hold` opens a stream and writes one chunk a second,
for measuring memory.
"""

from __future__ import annotations

import argparse
import asyncio
import functools
import json
import re
import sys
from typing import cast

import uvloop

MODEL = "moonshotai/Kimi-K2-Instruct"
WORDS = " some ordinary text of a few words, not always the same nor of the same length"
USUAL = 34  # characters a chunk
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
ASKED = re.compile(rb'"model"\s*:\s*"(?:[^"]*[/,])?(small|text|markers|marked|call|hold)((?:-\d+)*)"')


def event(delta: dict[str, object], finish: str | None = None) -> bytes:
    payload = {
        "id": "chatcmpl-0123456789abcdef0123",
        "object": "chat.completion.chunk",
        "created": 1760000000,
        "model": MODEL,
        "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}],
    }
    data = b"data: " + json.dumps(payload, separators=(",", ":")).encode() + b"\n\n"
    return b"%x\r\n%s\r\n" % (len(data), data)


ROLE = event({"role": "assistant", "content": ""})
STOP = event({}, "stop")
END = b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n"
CALL = (
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.read_file:0<|tool_call_argument_begin|>"
    '{"path": "src/module/file_number_one.py", "offset": 120, "limit": 40}<|tool_call_end|><|tool_calls_section_end|>'
)
MARKERS = [event({"content": CALL[at : at + 12]}) for at in range(0, len(CALL), 12)]
ARGUMENTS = '{"path": "src/module/file_number_one.py", "offset": 120, "limit": 40}'


def native_call() -> list[bytes]:
    """A call in `tool_calls`: its head, then its arguments, four characters a chunk."""
    head = {"index": 0, "id": "functions.read_file:0", "type": "function"}
    first = {**head, "function": {"name": "read_file", "arguments": ""}}
    pieces = (ARGUMENTS[at : at + 4] for at in range(0, len(ARGUMENTS), 4))
    return [
        event({"tool_calls": [first]}),
        *(event({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]}) for piece in pieces),
    ]


NATIVE = native_call()
CALLS_END = event({}, "tool_calls")
DOCUMENT = json.dumps(
    {
        "id": "chatcmpl-0123456789abcdef0123",
        "object": "chat.completion",
        "created": 1760000000,
        "model": MODEL,
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hello."}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15},
    },
    separators=(",", ":"),
).encode()
SMALL = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s" % (len(DOCUMENT), DOCUMENT)


@functools.cache
def texts(size: int, per: int) -> list[bytes]:
    """Writes of `per` chunks each, with about `size` characters a chunk, no two neighbours alike."""
    long = WORDS * (size // len(WORDS) + 2)
    sizes = [size + shift if size > 8 else size for shift in (-3, 2, -1, 4, -4, 1, 3, -2)]
    chunks = [event({"content": long[at : at + each]}) for at, each in enumerate(sizes)]
    return [b"".join(chunks[(at + n) % len(chunks)] for n in range(per)) for at in range(len(chunks))]


def numbers(asked: bytes) -> tuple[int, int, int, int]:
    """Chunks, milliseconds between two writes, characters a chunk, chunks a write."""
    given = [int(part) for part in asked.split(b"-")[1:]]
    count, gap, size, per = given + [100, 0, USUAL, 1][len(given) :]
    return count, gap, size, per


@functools.cache
def ends_in(call: bytes, count: int) -> list[bytes]:
    """`count` chunks of text whose last ones are a call; `call` names the kind."""
    last = MARKERS if call == b"marked" else NATIVE
    chunks = texts(USUAL, 1)
    return [chunks[at % len(chunks)] for at in range(count - len(last))] + last


class Provider(asyncio.Protocol):
    """One connection. Requests are read just far enough to know the model and the end of the body."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []  # of one request, not joined before it is whole: bodies are long
        self.missing = 0  # bytes of its body
        self.finish = STOP + END
        self.transport: asyncio.Transport | None = None
        self.timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)

    def connection_lost(self, exc: Exception | None) -> None:
        if self.timer:
            self.timer.cancel()
        self.transport = None

    def data_received(self, data: bytes) -> None:
        self.pieces.append(data)
        self.missing -= len(data)
        if self.missing > 0:
            return
        buffer = b"".join(self.pieces)
        while (end := buffer.find(b"\r\n\r\n")) >= 0:
            length = re.search(rb"content-length:\s*(\d+)", buffer[:end], re.IGNORECASE)
            stop = end + 4 + (int(length[1]) if length else 0)
            if len(buffer) < stop:
                self.missing = stop - len(buffer)
                break
            body, buffer = buffer[end + 4 : stop], buffer[stop:]
            self.answer(body)
        self.pieces = [buffer] if buffer else []

    def answer(self, body: bytes) -> None:
        assert self.transport is not None
        asked = ASKED.search(body)
        kind = asked[1] if asked else b"small"
        if kind == b"small" or asked is None:
            self.transport.write(SMALL)
            return
        count, gap, size, per = numbers(asked[2])
        if kind == b"hold":
            count, gap = 3600, 1000
        self.transport.write(HEAD + ROLE)
        self.finish = (CALLS_END if kind == b"call" else STOP) + END
        if kind in (b"call", b"marked"):
            chunks = ends_in(kind, count)
        else:
            chunks = MARKERS if kind == b"markers" else texts(size, per)
        self.tick(chunks, 0, count // per, gap / 1000)

    def tick(self, chunks: list[bytes], at: int, count: int, gap: float) -> None:
        if self.transport is None:
            return
        if not gap:
            for n in range(at, count):
                self.transport.write(chunks[n % len(chunks)])
            at = count
        if at >= count:
            self.transport.write(self.finish)
            return
        self.transport.write(chunks[at % len(chunks)])
        self.timer = asyncio.get_running_loop().call_later(gap, self.tick, chunks, at + 1, count, gap)


async def serve(port: int) -> None:
    server = await asyncio.get_running_loop().create_server(Provider, "127.0.0.1", port, backlog=4096)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    options = argparse.ArgumentParser()
    options.add_argument("--port", type=int, default=0)
    try:
        uvloop.run(serve(options.parse_args().port))
    except KeyboardInterrupt:
        sys.exit(0)
