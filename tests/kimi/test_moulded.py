"""Text chunks of one mould through one choice: byte for byte what their payloads would have given."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest
from tests.kimi.answering import CALL, PARSING, begin

from moongate import Session
from moongate.chat.accumulate import Accumulator
from moongate.chat.items import Chunk
from moongate.chat.mould import Mould, Moulder, TextChunk
from moongate.chat.template import TemplateChunk
from moongate.kimi.moulded import MouldedChoice
from moongate.kimi.stream import StreamedChoice

Row = dict[str, Any]


def body(text: str, field: str) -> Row:
    return {"id": "c", "choices": [{"index": 0, "delta": {field: text}, "logprobs": None}], "usage": None}


def assembled(payloads: Iterable[Row]) -> Row:
    accumulator = Accumulator()
    for payload in payloads:
        accumulator.feed(payload)
    return accumulator.completion()


def start(field: str) -> tuple[MouldedChoice, StreamedChoice, Mould]:
    choice, other = (StreamedChoice(begin(PARSING)._answer, 0) for _ in range(2))
    payload = body("a", field)
    found = Moulder().mould(Chunk(payload, Chunk.of(payload).encode()))
    for each in (choice, other):
        each.feed(payload["choices"][0])
    assert found is not None
    return MouldedChoice(choice, found), other, found


@pytest.mark.parametrize("field", ["content", "reasoning_content", "reasoning"])
def test_chunks_are_those_of_the_long_way(field: str) -> None:
    moulded, other, mould = start(field)
    texts = [
        "c",
        "<",
        "d",
        CALL.format("functions.bash:0", '{"a":1}'),
        "e",
        CALL.format("functions.bash:1", "{}") + "f",
        CALL.format('functions."100 %":7', '{"é":"%d \\u0002"}') + CALL.format("functions.read:2", "{}"),
        "g",
    ]
    cut = [piece for text in texts for piece in (text[:9], text[9:20], text[20:])]  # some of them are empty
    whole = CALL.format("functions.bash:3", "{}") + CALL.format("read", "[]")
    cut += [whole, "h" + whole]
    for text in cut:
        payload = body(text, field)
        expected = [{**payload, "choices": [each]} for each in other.feed(payload["choices"][0])]
        found = moulded.feed(TextChunk(mould, text, Chunk.of(payload).encode()))
        assert assembled(each.payload for each in found) == assembled(expected)
        assert b"".join(each.encode() for each in found) == b"".join(Chunk.of(each).encode() for each in expected)


@pytest.mark.parametrize("odd", ["\x02index\x03", "\x02the text\x03", "\x02the text\x03" * 3 + "index", "%d %b %"])
def test_an_envelope_may_say_anything(odd: str) -> None:
    def payload(text: str) -> Row:
        return {"id": odd, "choices": [{"index": 0, "delta": {"content": text}}], "model": odd}

    session = Session(begin(PARSING), "text/event-stream")
    calls = CALL.format("functions.bash:0", "{}") + CALL.format("functions.bash:1", "{}")
    texts = ["a", "b", "c<", "d", calls, "e"]
    out = b"".join(session.feed(Chunk.of(payload(text)).encode()) for text in texts)
    payloads = [json.loads(event[6:]) for event in out.split(b"\n\n")[:-1]]
    assert all(each["id"] == each["model"] == odd for each in payloads)
    (choice,) = assembled(payloads)["choices"]
    assert choice["message"]["content"] == "abc<de"
    assert [call["function"]["arguments"] for call in choice["message"]["tool_calls"]] == ["{}", "{}"]


def test_arguments_and_held_text_are_written_by_templates() -> None:
    moulded, _, mould = start("content")

    def feed(text: str) -> list[Chunk]:
        return list(moulded.feed(TextChunk(mould, text, b"")))

    feed("x<")
    (held,) = feed("y")
    assert isinstance(held, TemplateChunk)
    (whole,) = feed(CALL.format("functions.bash:7", "{}") + CALL.format("functions.read:8", "{}"))
    entries = whole.payload["choices"][0]["delta"]["tool_calls"]
    assert [(each["index"], each["id"], each["function"]["arguments"]) for each in entries] == [
        (0, "functions.bash:7", "{}"),
        (1, "functions.read:8", "{}"),
    ]
    assert whole.encode().count(b"data: ") == 4, "two events for each call"
    feed("<|tool_call_begin|>functions.bash:0<|tool_call_argument_begin|>{")
    for text in ('"a', "b"):
        (arguments,) = feed(text)
        assert isinstance(arguments, TemplateChunk)
