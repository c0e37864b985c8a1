"""What the OpenAI SDK reads of the responses front."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openai import OpenAI
from tests.dialects.chat_answers import (
    args_delta,
    call_delta,
    chunk,
    completion,
    encoded,
    events,
    reasoning_delta,
    text_delta,
    tool_call,
    usage_chunk,
)
from tests.dialects.openai_responses.test_dialect import REQUEST
from tests.support.length import examples

from moongate.chat.items import Done, Item
from moongate.dialects.openai_responses import RESPONSES


def client(data: bytes) -> OpenAI:
    """The official SDK in front of recorded bytes."""

    def answer(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=data)

    return OpenAI(api_key="k", max_retries=0, http_client=httpx2.Client(transport=httpx2.MockTransport(answer)))


def accumulated(data: bytes) -> dict[str, Any]:
    """What the SDK's stream helper builds: the final response, and its own sum of the deltas."""
    with client(data).responses.stream(**REQUEST) as stream:
        for _ in stream:
            pass
        final: dict[str, Any] = stream.get_final_response().to_dict(exclude_unset=True)
    for item in final["output"]:
        item.pop("parsed_arguments", None)
        for part in item.get("content") or ():
            part.pop("parsed", None)
    return final


def summed(data: bytes) -> list[str]:
    """The texts of the items, joined from the deltas alone."""
    texts: dict[int, str] = {}
    for event in events(data):
        if event["type"].endswith(".delta"):
            texts[event["output_index"]] = texts.get(event["output_index"], "") + event["delta"]
    return [texts[index] for index in sorted(texts)]


TEXTS = st.text('ab"\\{}\n é😀', max_size=12)
ARGUMENTS = st.sampled_from(["{}", '{"a":1}', '{"a": {"b": ["}"]}}', "[1]", '{"a": "b', " {}"])


@st.composite
def answers(draw: st.DrawFn) -> tuple[dict[str, Any], list[Item]]:
    """A completion, and a stream with the same content cut at random positions."""

    def pieces(text: str) -> list[str]:
        at = draw(st.integers(0, len(text)))
        return [piece for piece in (text[:at], text[at:]) if piece]

    reasoning, content, arguments = draw(TEXTS), draw(TEXTS), draw(st.lists(ARGUMENTS, max_size=3))
    items: list[Item] = [*map(reasoning_delta, pieces(reasoning)), *map(text_delta, pieces(content))]
    for at, text in enumerate(arguments):
        items.append(call_delta(at, f"functions.f:{at}", "f"))
        items.extend(args_delta(at, piece) for piece in pieces(text))
    found = [tool_call(f"functions.f:{at}", "f", text) for at, text in enumerate(arguments)]
    message = {"reasoning_content": reasoning, "content": content, "tool_calls": found}
    return completion(message, "stop"), [*items, chunk(finish="stop"), usage_chunk()]


@settings(max_examples=examples(60), deadline=None, derandomize=True)
@given(answers())
def test_streams_equal_whole_answers(answer: tuple[dict[str, Any], list[Item]]) -> None:
    reply, items = answer
    data = encoded(RESPONSES.encoder(REQUEST), items)
    expected = RESPONSES.encode(reply, REQUEST)
    assert accumulated(data) == expected
    message = reply["choices"][0]["message"]
    arguments = [call["function"]["arguments"] for call in message["tool_calls"]]
    assert summed(data) == [text for text in (message["reasoning_content"], message["content"], *arguments) if text]


def test_the_sdk_raises_for_a_failed_stream() -> None:
    encoder = RESPONSES.encoder(REQUEST)
    data = encoder.feed(text_delta("a")) + encoder.close()
    with pytest.raises(RuntimeError, match=r"response\.completed"):
        accumulated(data)


def test_the_methods_of_the_dialect() -> None:
    assert RESPONSES.decode(REQUEST) == {"model": "gpt-x", "messages": [{"role": "user", "content": "hi"}]}
    assert RESPONSES.left_out(REQUEST) == []
    assert RESPONSES.keep_alive() == b": keep-alive\n\n"
    encoder = RESPONSES.encoder(REQUEST)
    data = RESPONSES.keep_alive() + encoder.feed(text_delta("a")) + RESPONSES.keep_alive() + encoder.feed(Done())
    assert accumulated(data)["output"][0]["content"][0]["text"] == "a"
