"""What the Anthropic SDK reads of the messages front."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest
from anthropic import Anthropic, APIStatusError
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.dialects.anthropic_messages.test_dialect import REQUEST
from tests.dialects.chat_answers import (
    HEAD,
    USAGE,
    args_delta,
    call_delta,
    chunk,
    completion,
    encoded,
    reasoning_delta,
    text_delta,
    tool_call,
    usage_chunk,
)
from tests.support.length import examples

from moongate.chat.items import Chunk, Done, Item
from moongate.dialects.anthropic_messages import MESSAGES
from moongate.errors import BadUpstream


def client(data: bytes, content_type: str = "text/event-stream", status: int = 200) -> Anthropic:
    """The official SDK in front of recorded bytes."""

    def answer(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(status, headers={"content-type": content_type}, content=data)

    transport = httpx2.MockTransport(answer)
    return Anthropic(api_key="k", max_retries=0, http_client=httpx2.Client(transport=transport))


def accumulated(data: bytes) -> dict[str, Any]:
    """What `messages.stream().get_final_message()` builds."""
    with client(data).messages.stream(**REQUEST) as stream:  # type: ignore[arg-type]
        found: dict[str, Any] = stream.get_final_message().to_dict(exclude_unset=True)
    found.pop("stop_details", None)
    return found


def test_the_sdk_builds_the_whole_answer_from_the_stream() -> None:
    items = [
        reasoning_delta("h"),
        reasoning_delta("m"),
        text_delta("Look"),
        text_delta(" here."),
        call_delta(0, "functions.ls:0", "ls"),
        args_delta(0, '{"a":'),
        call_delta(1, "functions.cat:1", "cat"),
        args_delta(0, " 1}"),
        args_delta(1, "{}"),
        chunk(finish="tool_calls"),
        usage_chunk(),
    ]
    message = {
        "reasoning_content": "hm",
        "content": "Look here.",
        "tool_calls": [tool_call("functions.ls:0", "ls", '{"a": 1}'), tool_call("functions.cat:1", "cat", "{}")],
    }
    expected = MESSAGES.encode(completion(message, "tool_calls"), REQUEST)
    assert accumulated(encoded(MESSAGES.encoder(REQUEST), items)) == expected


TEXTS = st.text('ab"\\{}\n é😀', max_size=12)
ARGUMENTS = st.sampled_from(["", "{}", '{"a":1}', '{"a": {"b": ["}"]}}', "[1]", '"{\\"a\\":1}"', '{"a": "b', " {}"])


@st.composite
def answers(draw: st.DrawFn) -> tuple[dict[str, Any], list[Item]]:
    """A completion, and a stream with the same content cut at random positions."""

    def pieces(text: str) -> list[str]:
        at = draw(st.integers(0, len(text)))
        return [piece for piece in (text[:at], text[at:]) if piece]

    reasoning, content, arguments = draw(TEXTS), draw(TEXTS), draw(st.lists(ARGUMENTS, max_size=3))
    finish = draw(st.sampled_from(["stop", "tool_calls", "length", "content_filter"]))
    found = [tool_call(f"functions.f:{at}", "f", text) for at, text in enumerate(arguments)]
    items: list[Item] = [*map(reasoning_delta, pieces(reasoning)), *map(text_delta, pieces(content))]
    for at, text in enumerate(arguments):
        items.append(call_delta(at, f"functions.f:{at}", "f"))
        items.extend(args_delta(at, piece) for piece in pieces(text))
    message = {"reasoning_content": reasoning, "content": content, "tool_calls": found}
    return completion(message, finish), [*items, chunk(finish=finish), usage_chunk()]


@settings(max_examples=examples(60), deadline=None, derandomize=True)
@given(answers())
def test_streams_equal_whole_answers(answer: tuple[dict[str, Any], list[Item]]) -> None:
    reply, items = answer
    assert accumulated(encoded(MESSAGES.encoder(REQUEST), items)) == MESSAGES.encode(reply, REQUEST)


def test_the_sdk_reads_our_errors() -> None:
    data = MESSAGES.encoder(REQUEST).feed(text_delta("a")) + MESSAGES.error_event(BadUpstream("cut"))
    with pytest.raises(APIStatusError, match="cut"):
        accumulated(data)


def test_the_sdk_skips_our_pings() -> None:
    ping = MESSAGES.keep_alive()
    assert ping == b'event: ping\ndata: {"type":"ping"}\n\n'
    encoder = MESSAGES.encoder(REQUEST)
    data = ping + encoder.feed(text_delta("a")) + ping + encoder.feed(Done())
    assert accumulated(data)["content"] == [{"type": "text", "text": "a"}]


def test_the_first_chunk_may_be_empty() -> None:
    items = [Chunk.of({**HEAD, "choices": []}), text_delta("a"), chunk(finish="stop"), usage_chunk(USAGE)]
    assert accumulated(encoded(MESSAGES.encoder(REQUEST), items))["content"] == [{"type": "text", "text": "a"}]
