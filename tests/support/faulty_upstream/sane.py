"""Correct answers, in all three APIs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tests.support.faulty_upstream.payloads import (
    FULL,
    K2,
    TEXT,
    JsonObject,
    call,
    chunk,
    completion,
    event,
    js,
)
from tests.support.faulty_upstream.response import FaultResponse, fault


@fault("ok", "a correct answer in the dialect of the path (chat, messages, responses), streamed if requested")
async def ok(p: FaultResponse) -> None:
    if p.request.path.endswith("/messages"):
        await anthropic(p)
    elif p.request.path.endswith("/responses"):
        await responses(p)
    elif p.request.stream:
        await p.sse_head()
        await p.sse(*p.events())
        await p.end()
    else:
        await p.body(completion(p.model))


@fault("echo", "correct; the content is the last user message (nonce check for cross-talk), d=delay n=copies")
async def echo(p: FaultResponse) -> None:
    text = p.request.last_user[:4096]
    delay, n = p.number("d", 0), int(p.number("n", 1))
    if p.request.stream:
        await p.sse_head()
        for each in p.events([text] * n):
            await p.sse(each, pause=delay)
        return await p.end()
    if delay:
        await p.sleep(delay)
    return await p.body(completion(p.model, text * n))


@fault("ok_tools", "correct native tool_calls, two calls, streamed as deltas if requested")
async def ok_tools(p: FaultResponse) -> None:
    calls = [
        ("functions.get_weather:0", "get_weather", '{"city": "Paris"}'),
        ("functions.get_time:1", "get_time", '{"tz": "CET"}'),
    ]
    if not p.request.stream:
        body = [{"id": i, "type": "function", "function": {"name": n, "arguments": a}} for i, n, a in calls]
        return await p.body(completion(p.model, None, body))
    await p.sse_head()
    await p.sse(chunk(p.model, {"role": "assistant", "content": None}))
    for place, (call_id, name, arguments) in enumerate(calls):
        await p.sse(chunk(p.model, {"tool_calls": [call(place, call_id, name, "")]}))
        for at in range(0, len(arguments), 4):
            await p.sse(chunk(p.model, {"tool_calls": [call(place, None, None, arguments[at : at + 4])]}))
    await p.sse(chunk(p.model, {}, "tool_calls"), b"data: [DONE]\n\n")
    return await p.end()


@fault("k2_markers", "K2 markers left in content with finish_reason stop; split=N characters a delta when streamed")
async def k2_markers(p: FaultResponse) -> None:
    if not p.request.stream:
        return await p.body(completion(p.model, K2))
    n = max(1, int(p.number("split", 3)))
    await p.sse_head()
    await p.sse(*p.events(K2[at : at + n] for at in range(0, len(K2), n)))
    return await p.end()


@fault("ndjson", "a correct stream as application/x-ndjson, one object a line, no SSE framing")
async def ndjson(p: FaultResponse) -> None:
    await p.head(content_type="application/x-ndjson")
    for text in TEXT:
        await p.chunk(js(chunk(p.model, {"content": text})) + b"\n")
    await p.chunk(js(chunk(p.model, {}, "stop")) + b"\n")
    await p.end()


async def anthropic(p: FaultResponse, cut: int | None = None, tail: Iterable[JsonObject] = ()) -> None:
    message: JsonObject = {
        "id": "msg_faulty",
        "type": "message",
        "role": "assistant",
        "model": p.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 3, "output_tokens": 0},
    }
    if not p.request.stream and cut is None:
        usage = {"input_tokens": 3, "output_tokens": 7}
        text = [{"type": "text", "text": FULL}]
        return await p.body({**message, "content": text, "stop_reason": "end_turn", "usage": usage})
    block: JsonObject = {"type": "text", "text": ""}
    ending = {"stop_reason": "end_turn", "stop_sequence": None}
    sequence: list[JsonObject] = [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": block},
        *({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}} for text in TEXT),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": ending, "usage": {"output_tokens": 7}},
        {"type": "message_stop"},
    ]
    await p.sse_head()
    for each in [*sequence[:cut], *tail]:
        await p.chunk(event(each, each["type"]))
    return await p.end()


Tail = Callable[[JsonObject], JsonObject]


async def responses(p: FaultResponse, cut: int | None = None, tail: Iterable[Tail] = ()) -> None:
    base: JsonObject = {
        "id": "resp_faulty",
        "object": "response",
        "created_at": 1700000000,
        "status": "in_progress",
        "model": p.model,
        "output": [],
        "error": None,
        "incomplete_details": None,
    }
    part = {"type": "output_text", "text": FULL, "annotations": []}
    item: JsonObject = {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": [part]}
    usage = {"input_tokens": 3, "output_tokens": 7, "total_tokens": 10}
    done = {**base, "status": "completed", "output": [item], "usage": usage}
    if not p.request.stream and cut is None:
        return await p.body(done)
    place: dict[str, Any] = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    begun = {**item, "status": "in_progress", "content": []}
    sequence: list[JsonObject] = [
        {"type": "response.created", "response": base},
        {"type": "response.output_item.added", "output_index": 0, "item": begun},
        {"type": "response.content_part.added", **place, "part": {**part, "text": ""}},
        *({"type": "response.output_text.delta", **place, "delta": text} for text in TEXT),
        {"type": "response.output_text.done", **place, "text": FULL},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": done},
    ]
    await p.sse_head()
    for n, each in enumerate([*sequence[:cut], *(make(base) for make in tail)]):
        await p.chunk(event({**each, "sequence_number": n}, each["type"]))
    return await p.end()
