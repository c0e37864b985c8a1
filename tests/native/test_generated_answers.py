"""Generated answers of native providers whose damage is known by construction: whole, and streamed in random pieces."""

from __future__ import annotations

import json
from random import Random
from typing import Any, NamedTuple

import pytest

from moongate.chat.verdict import CLEAN, Verdict
from moongate.native.exchange import NativeExchange
from moongate.native.session import NativeSession
from moongate.payload import JsonObject

HALF = '{"a": '


class Part(NamedTuple):
    """Text if it has no arguments, else a call."""

    name: str = ""
    arguments: str = ""


class Generated(NamedTuple):
    parts: list[Part]
    cut: bool  # the provider says so
    required: bool

    @property
    def expected(self) -> Verdict:
        calls = [part for part in self.parts if part.name]
        judged = calls[:-1] if self.cut else calls
        kinds = {"unknown_tool" for call in judged if call.name == "unknown"}
        kinds |= {"invalid_json" for call in judged if call.arguments == HALF}
        if not self.cut:
            kinds |= {"nameless" for part in self.parts if part.arguments and not part.name}
            kinds |= {"missing_call"} if self.required and not calls else set()
            kinds |= {"empty_turn"} if not calls and Part() not in self.parts else set()
        return Verdict("damaged", tuple(sorted(kinds))) if kinds else CLEAN


def generated(random: Random) -> Generated:
    parts = [Part()] if random.random() < 0.5 else []
    for _ in range(random.choice([0, 1, 1, 2, 3])):
        name = random.choice(["f", "f", "f", "unknown", ""])
        parts.append(Part(name, random.choice(["{}", '{"a": "\u00e9"}', HALF])))
    return Generated(parts, random.random() < 0.25, random.random() < 0.3)


def frame(kind: str, **more: Any) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (kind.encode(), json.dumps({"type": kind, **more}).encode())


def messages(answer: Generated, random: Random) -> tuple[JsonObject, bytes]:
    content, frames = [], []
    for at, (name, arguments) in enumerate(answer.parts):
        block: JsonObject = {"type": "text", "text": "Hi"}
        deltas: list[JsonObject] = [{"type": "text_delta", "text": "Hi"}]
        start: JsonObject = {"type": "text", "text": ""}
        if arguments:
            start = {"type": "tool_use", "id": f"toolu_{at}", "name": name, "input": {}}
            block = {**start, "input": arguments if arguments == HALF else json.loads(arguments)}
            place = random.randrange(len(arguments))
            pieces = (arguments[:place], arguments[place:])
            deltas = [{"type": "input_json_delta", "partial_json": each} for each in pieces]
        content.append(block)
        frames.append(frame("content_block_start", index=at, content_block=start))
        frames += [frame("content_block_delta", index=at, delta=each) for each in deltas]
        frames.append(frame("content_block_stop", index=at))
    reason = "max_tokens" if answer.cut else "end_turn"
    frames += [frame("message_delta", delta={"stop_reason": reason}), frame("message_stop")]
    return {"content": content, "stop_reason": reason}, b"".join(frames)


def responses(answer: Generated, random: Random) -> tuple[JsonObject, bytes]:
    output: list[JsonObject] = []
    frames = []
    for at, (name, arguments) in enumerate(answer.parts):
        item: JsonObject = {"type": "message", "content": [{"type": "output_text", "text": "Hi"}]}
        if arguments:
            item = {"type": "function_call", "call_id": f"call_{at}", "name": name, "arguments": arguments}
        output.append(item)
        frames += [frame(f"response.output_item.{each}", output_index=at, item=item) for each in ("added", "done")]
    status = "incomplete" if answer.cut else "completed"
    body: JsonObject = {"output": output, "status": status}
    last = body if random.random() < 0.5 else {**body, "output": []}
    return body, b"".join([*frames, frame(f"response.{status}", response=last)])


@pytest.mark.parametrize(("front", "written"), [("messages", messages), ("responses", responses)])
def test_worth_and_kinds(front: str, written: Any) -> None:
    random = Random(7)
    for _ in range(1000):
        answer = generated(random)
        body, data = written(answer, random)
        tools = {"tools": [{"type": "function", "name": "f"} if front == "responses" else {"name": "f"}]}
        chat = {"tool_choice": "required"} if answer.required else {}
        whole, streamed = (NativeExchange(front, tools, chat, None) for _ in range(2))
        whole.whole(body)
        assert whole.verdict == answer.expected, answer
        session, rest, out = NativeSession(streamed, "text/event-stream", 100_000), data, b""
        while rest:
            size = random.randint(1, 60)
            out, rest = out + session.feed(rest[:size]), rest[size:]
        assert out + session.close() == data
        assert streamed.verdict == answer.expected, answer
