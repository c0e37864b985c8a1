"""Faults of the connection: closed, reset, silent, slow, wrongly reused."""

from __future__ import annotations

import asyncio

from tests.support.faulty_upstream.payloads import completion, error, js
from tests.support.faulty_upstream.response import FaultResponse, fault
from tests.support.faulty_upstream.sane import ok

MOMENT = 0.05  # lets written data arrive before the connection ends


@fault("close_no_bytes", "FIN after the request, no byte of response")
async def close_no_bytes(p: FaultResponse) -> None:
    p.close()


@fault("reset_before_headers", "RST after the request, no byte of response")
async def reset_before_headers(p: FaultResponse) -> None:
    p.reset()


@fault("reset_mid_headers", "half a header block, then RST")
async def reset_mid_headers(p: FaultResponse) -> None:
    await p.raw(b"HTTP/1.1 200 OK\r\nContent-Type: applica", MOMENT)
    p.reset()


async def _half_a_body(p: FaultResponse) -> None:
    data = js(completion(p.model))
    await p.head(length=len(data))
    await p.raw(data[: len(data) // 2])


@fault("reset_mid_body", "Content-Length promised, half the JSON, then RST")
async def reset_mid_body(p: FaultResponse) -> None:
    await _half_a_body(p)
    await p.sleep(MOMENT)
    p.reset()


@fault("close_mid_body", "Content-Length promised, half the JSON, then FIN (short body)")
async def close_mid_body(p: FaultResponse) -> None:
    await _half_a_body(p)
    await p.sleep(MOMENT)
    p.close()


async def _some_events(p: FaultResponse) -> None:
    await p.sse_head()
    await p.sse(*p.events()[: int(p.number("after", 4))])


@fault("reset_mid_stream", "after=N SSE events, then RST")
async def reset_mid_stream(p: FaultResponse) -> None:
    await _some_events(p)
    await asyncio.sleep(MOMENT)
    p.reset()


@fault("truncated_chunked", "after=N SSE events, FIN without the terminal 0-chunk")
async def truncated_chunked(p: FaultResponse) -> None:
    await _some_events(p)
    await asyncio.sleep(MOMENT)
    p.close()


@fault("truncated_in_chunk", "chunk size says 1000, 10 bytes follow, FIN")
async def truncated_in_chunk(p: FaultResponse) -> None:
    await p.sse_head()
    await p.raw(b'3e8\r\ndata: {"a"', MOMENT)
    p.close()


@fault("hang_no_headers", "reads the request and never answers (s=seconds)")
async def hang_no_headers(p: FaultResponse) -> None:
    await p.hang()


@fault("hang_mid_headers", "status line, then silence")
async def hang_mid_headers(p: FaultResponse) -> None:
    await p.raw(b"HTTP/1.1 200 OK\r\nContent-Type: text/ev")
    await p.hang()


@fault("hang_after_headers", "complete SSE headers, no event ever")
async def hang_after_headers(p: FaultResponse) -> None:
    await p.sse_head()
    await p.hang()


@fault("hang_mid_body", "half a JSON body, then silence")
async def hang_mid_body(p: FaultResponse) -> None:
    await _half_a_body(p)
    await p.hang()


@fault("hang_mid_stream", "after=N SSE events, then silence (no keep-alive)")
async def hang_mid_stream(p: FaultResponse) -> None:
    await _some_events(p)
    await p.hang()


@fault("hang_after_done", "whole stream with [DONE], then the body is never ended")
async def hang_after_done(p: FaultResponse) -> None:
    await p.sse_head()
    await p.sse(*p.events())
    await p.hang()


@fault("slow_headers", "header block one byte every delay seconds (default 0.05)")
async def slow_headers(p: FaultResponse) -> None:
    data = js(completion(p.model))
    lines = ("HTTP/1.1 200 OK", "Content-Type: application/json", f"Content-Length: {len(data)}", "Connection: close")
    for byte in ("\r\n".join(lines) + "\r\n\r\n").encode():
        await p.raw(bytes((byte,)), p.number("delay", 0.05))
    await p.raw(data)
    p.close()


@fault("slow_drip", "the body or stream one byte a TCP segment, delay seconds apart (default 0.01)")
async def slow_drip(p: FaultResponse) -> None:
    delay = p.number("delay", 0.01)
    if p.request.stream:
        await p.sse_head()
        for byte in b"".join(p.events()):
            await p.chunk(bytes((byte,)), delay)
        return await p.end()
    data = js(completion(p.model))
    await p.head(length=len(data))
    for byte in data:
        await p.raw(bytes((byte,)), delay)
    return None


@fault("slow_events", "a correct stream of n events (100), delay seconds apart (0.1)")
async def slow_events(p: FaultResponse) -> None:
    await p.sse_head()
    for each in p.events(f" t{i}" for i in range(int(p.number("n", 100)))):
        await p.sse(each, pause=p.number("delay", 0.1))
    await p.end()


@fault("half_close", "answers, then shuts its sending side only and keeps the socket")
async def half_close(p: FaultResponse) -> None:
    await p.raw(_plain(js(completion(p.model))))
    p.writer.write_eof()
    await p.hang()


@fault("keepalive_close_race", "a correct keep-alive answer; RST when the next request's first byte arrives")
async def keepalive_close_race(p: FaultResponse) -> None:
    p.keep = True
    await ok(p)
    await p.reader.readexactly(1)
    p.reset()


@fault("keepalive_stale", "a correct keep-alive answer, silent FIN idle=S seconds later (0.05)")
async def keepalive_stale(p: FaultResponse) -> None:
    p.keep = True
    await ok(p)
    await asyncio.sleep(p.number("idle", MOMENT))
    p.close()


# The next two are selected by header or path, before the body is read.
@fault("early_413", "413 before the request body is read, then close with unread data (RST)")
async def early_413(p: FaultResponse) -> None:
    await p.body(error("too large", "invalid_request_error"), 413, "Payload Too Large")
    await asyncio.sleep(MOMENT)
    p.reset()


@fault("no_read", "never reads the request body (upload back-pressure); by header or path only")
async def no_read(p: FaultResponse) -> None:
    transport = p.writer.transport
    assert isinstance(transport, asyncio.Transport)
    transport.pause_reading()
    await asyncio.sleep(p.number("s", p.server.max_seconds))


@fault("double_response", "a correct keep-alive answer followed by a second, unasked one marked POISON")
async def double_response(p: FaultResponse) -> None:
    p.keep = True
    await ok(p)
    await p.raw(_plain(js(completion(p.model, "POISON"))))
    p.server.counters["poisoned"] += 1


def _plain(data: bytes) -> bytes:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    return head % len(data) + data
