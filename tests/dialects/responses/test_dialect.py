"""The responses front as the gateway sees it, and what the official SDK makes of its streams."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openai import OpenAI
from tests.dialects.talk import argues, called, calls, chunk, counted, events, says, thinks, whole, written

from moongate.chat.items import Done, Item
from moongate.dialects.responses import RESPONSES
from moongate.errors import BadRequest, BadUpstream, UpstreamRefused

ASKED: dict[str, Any] = {"model": "gpt-x", "input": "hi"}
OVERFLOW = UpstreamRefused("This model's maximum context length is 1000 tokens", status=400)


def client(data: bytes) -> OpenAI:
    """The official SDK in front of recorded bytes."""

    def answer(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=data)

    return OpenAI(api_key="k", max_retries=0, http_client=httpx2.Client(transport=httpx2.MockTransport(answer)))


def accumulated(data: bytes) -> dict[str, Any]:
    """What the SDK's stream helper builds: the final response, and its own sum of the deltas."""
    with client(data).responses.stream(**ASKED) as stream:
        for _ in stream:
            pass
        final: dict[str, Any] = stream.get_final_response().to_dict(exclude_unset=True)
    for item in final["output"]:
        item.pop("parsed_arguments", None)
        for part in item.get("content") or ():
            part.pop("parsed", None)
    return final


def summed(data: bytes) -> list[str]:
    """The texts of the items, added up from the deltas alone."""
    texts: dict[int, str] = {}
    for event in events(data):
        if event["type"].endswith(".delta"):
            texts[event["output_index"]] = texts.get(event["output_index"], "") + event["delta"]
    return [texts[index] for index in sorted(texts)]


TEXTS = st.text('ab"\\{}\n é😀', max_size=12)
ARGUMENTS = st.sampled_from(["{}", '{"a":1}', '{"a": {"b": ["}"]}}', "[1]", '{"a": "b', " {}"])


@st.composite
def answers(draw: st.DrawFn) -> tuple[dict[str, Any], list[Item]]:
    """A whole answer and a stream that says the same, cut somehow."""

    def pieces(text: str) -> list[str]:
        at = draw(st.integers(0, len(text)))
        return [piece for piece in (text[:at], text[at:]) if piece]

    reasoning, content, arguments = draw(TEXTS), draw(TEXTS), draw(st.lists(ARGUMENTS, max_size=3))
    items: list[Item] = [*map(thinks, pieces(reasoning)), *map(says, pieces(content))]
    for at, text in enumerate(arguments):
        items.append(calls(at, f"functions.f:{at}", "f"))
        items.extend(argues(at, piece) for piece in pieces(text))
    found = [called(f"functions.f:{at}", "f", text) for at, text in enumerate(arguments)]
    message = {"reasoning_content": reasoning, "content": content, "tool_calls": found}
    return whole(message, "stop"), [*items, chunk(finish="stop"), counted()]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(answers())
def test_streams_equal_whole_answers(answer: tuple[dict[str, Any], list[Item]]) -> None:
    reply, items = answer
    data = written(RESPONSES.encoder(ASKED), items)
    expected = RESPONSES.encode(reply, ASKED)
    assert accumulated(data) == expected
    message = reply["choices"][0]["message"]
    arguments = [call["function"]["arguments"] for call in message["tool_calls"]]
    assert summed(data) == [text for text in (message["reasoning_content"], message["content"], *arguments) if text]


def test_the_sdk_does_not_take_a_failure_for_an_answer() -> None:
    encoder = RESPONSES.encoder(ASKED)
    data = encoder.feed(says("a")) + encoder.close()
    with pytest.raises(RuntimeError, match=r"response\.completed"):
        accumulated(data)


def test_errors() -> None:
    error = BadRequest("not stored", path="previous_response_id")
    assert RESPONSES.told(error) is error
    assert RESPONSES.error(error)["error"]["param"] == "previous_response_id"
    assert RESPONSES.error(OVERFLOW)["error"]["code"] == "context_length_exceeded"
    (event,) = events(RESPONSES.error_event(BadUpstream("cut")))
    assert event["type"] == "response.failed"
    assert event["response"]["error"] == {"code": "server_error", "message": "cut"}


def test_a_prompt_that_is_too_long_is_told_in_a_stream() -> None:
    data = RESPONSES.failed_stream(OVERFLOW, {**ASKED, "stream": True})
    assert data is not None
    found = events(data)
    assert [event["type"] for event in found] == ["response.created", "response.in_progress", "response.failed"]
    assert found[-1]["response"]["error"]["code"] == "context_length_exceeded"
    assert RESPONSES.failed_stream(OVERFLOW, ASKED) is None
    assert RESPONSES.failed_stream(BadUpstream("cut"), {"stream": True}) is None


def test_a_whole_answer_that_is_too_long_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("moongate.dialects.responses.stream.MAX_ANSWER", 3)
    with pytest.raises(BadUpstream):
        RESPONSES.encode(whole({"content": "long"}), ASKED)


def test_the_front_in_short() -> None:
    assert RESPONSES.decode(ASKED) == {"model": "gpt-x", "messages": [{"role": "user", "content": "hi"}]}
    assert RESPONSES.left_out(ASKED) == []
    assert RESPONSES.keep_alive() == b": keep-alive\n\n"
    encoder = RESPONSES.encoder(ASKED)
    data = RESPONSES.keep_alive() + encoder.feed(says("a")) + RESPONSES.keep_alive() + encoder.feed(Done())
    assert accumulated(data)["output"][0]["content"][0]["text"] == "a"
