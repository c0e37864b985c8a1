"""Texts with markers are rewritten to, byte for byte, what their chunks would have given."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest
from tests.kimi.answering import CALL, PARSING, begin

from moongate.chat.accumulate import Accumulator
from moongate.chat.items import Chunk
from moongate.fast.envelope import EnvelopeLearner
from moongate.fast.rewriter import MadeChunk, PayloadChunk, TemplateChunk, TextRewriter
from moongate.fast.session import FastSession
from moongate.kimi.answer.streamed_choice import StreamedChoice

Row = dict[str, Any]


def body(text: str, field: str) -> Row:
    return {"id": "c", "choices": [{"index": 0, "delta": {field: text}, "logprobs": None}], "usage": None}


def assembled(payloads: Iterable[Row]) -> Row:
    accumulator = Accumulator()
    for payload in payloads:
        accumulator.feed(payload)
    return accumulator.completion()


def start(field: str, options: Row = PARSING) -> tuple[TextRewriter, StreamedChoice]:
    """A rewriter, and a choice that read the same first chunk."""
    choice, other = (StreamedChoice(begin(options).answer, 0) for _ in range(2))
    payload = body("a", field)
    found = EnvelopeLearner().learn(Chunk(payload, Chunk.of(payload).encode()))
    for each in (choice, other):
        each.feed(payload["choices"][0])
    assert found is not None
    return TextRewriter(choice, found), other


@pytest.mark.parametrize("field", ["content", "reasoning_content", "reasoning"])
@pytest.mark.parametrize("options", [PARSING, {}, {**PARSING, "assembleToolDeltas": True}])
def test_chunks_are_those_of_the_plain_way(field: str, options: Row) -> None:
    rewriter, other = start(field, options)
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
    opened = "<|tool_call_begin|>functions.bash:4<|tool_call_argument_begin|>"
    cut += [whole, "h" + whole, opened + '{"a"', ":1}", "}<|tool_call_end|>" + opened + "{}"]
    for text in cut:
        payload = body(text, field)
        expected = [{**payload, "choices": [each]} for each in other.feed(payload["choices"][0])]
        made = rewriter.feed(text)
        if made is None:
            assert expected == [payload]
        else:
            assert assembled(each.payload() for each in made) == assembled(expected)
            assert b"".join(each.events() for each in made) == b"".join(Chunk.of(each).encode() for each in expected)


@pytest.mark.parametrize("odd", ["\x02index\x03", "\x02the text\x03", "\x02the text\x03" * 3 + "index", "%d %b %"])
def test_an_envelope_may_contain_anything(odd: str) -> None:
    def payload(text: str) -> Row:
        return {"id": odd, "choices": [{"index": 0, "delta": {"content": text}}], "model": odd}

    session = FastSession(begin(PARSING), "text/event-stream")
    calls = CALL.format("functions.bash:0", "{}") + CALL.format("functions.bash:1", "{}")
    texts = ["a", "b", "c<", "d", calls, "e"]
    out = b"".join(session.feed(Chunk.of(payload(text)).encode()) for text in texts)
    payloads = [json.loads(event[6:]) for event in out.split(b"\n\n")[:-1]]
    assert all(each["id"] == each["model"] == odd for each in payloads)
    (choice,) = assembled(payloads)["choices"]
    assert choice["message"]["content"] == "abc<de"
    assert [call["function"]["arguments"] for call in choice["message"]["tool_calls"]] == ["{}", "{}"]


def test_arguments_and_held_text_are_written_by_template() -> None:
    rewriter, _ = start("content")

    def feed(text: str) -> list[MadeChunk]:
        made = rewriter.feed(text)
        assert made is not None
        return list(made)

    feed("x<")
    (held,) = feed("y")
    assert isinstance(held, TemplateChunk)
    (whole,) = feed(CALL.format("functions.bash:7", "{}") + CALL.format("functions.read:8", "{}"))
    entries = whole.payload()["choices"][0]["delta"]["tool_calls"]
    assert [(each["index"], each["id"], each["function"]["arguments"]) for each in entries] == [
        (0, "functions.bash:7", "{}"),
        (1, "functions.read:8", "{}"),
    ]
    assert whole.events().count(b"data: ") == 4, "two events for each call"
    (opened,) = feed("<|tool_call_begin|>functions.bash:0<|tool_call_argument_begin|>")
    assert isinstance(opened, PayloadChunk)
    for text in ('{"a', "b"):
        (arguments,) = feed(text)
        assert isinstance(arguments, TemplateChunk)
