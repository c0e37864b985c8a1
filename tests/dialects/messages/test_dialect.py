"""The messages front as the gateway sees it, and what the official SDK makes of its streams."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest
from anthropic import Anthropic, APIStatusError
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.dialects.talk import HEAD, USAGE, argues, called, calls, chunk, counted, says, thinks, whole, written

from moongate.chat.items import Chunk, Done, Item
from moongate.dialects.messages import MESSAGES
from moongate.errors import BadRequest, BadUpstream, UpstreamRefused

ASKED = {"model": "claude-x", "messages": [{"role": "user", "content": "hi"}], "max_tokens": 9}


def client(data: bytes, content_type: str = "text/event-stream", status: int = 200) -> Anthropic:
    """The official SDK in front of recorded bytes."""

    def answer(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(status, headers={"content-type": content_type}, content=data)

    transport = httpx2.MockTransport(answer)
    return Anthropic(api_key="k", max_retries=0, http_client=httpx2.Client(transport=transport))


def accumulated(data: bytes) -> dict[str, Any]:
    """What `messages.stream().get_final_message()` builds."""
    with client(data).messages.stream(**ASKED) as stream:  # type: ignore[arg-type]
        found: dict[str, Any] = stream.get_final_message().to_dict(exclude_unset=True)
    found.pop("stop_details", None)
    return found


def test_the_sdk_builds_the_whole_answer_from_the_stream() -> None:
    items = [
        thinks("h"),
        thinks("m"),
        says("Look"),
        says(" here."),
        calls(0, "functions.ls:0", "ls"),
        argues(0, '{"a":'),
        calls(1, "functions.cat:1", "cat"),
        argues(0, " 1}"),
        argues(1, "{}"),
        chunk(finish="tool_calls"),
        counted(),
    ]
    message = {
        "reasoning_content": "hm",
        "content": "Look here.",
        "tool_calls": [called("functions.ls:0", "ls", '{"a": 1}'), called("functions.cat:1", "cat", "{}")],
    }
    expected = MESSAGES.encode(whole(message, "tool_calls"), ASKED)
    assert accumulated(written(MESSAGES.encoder(ASKED), items)) == expected


TEXTS = st.text('ab"\\{}\n é😀', max_size=12)
ARGUMENTS = st.sampled_from(["", "{}", '{"a":1}', '{"a": {"b": ["}"]}}', "[1]", '"{\\"a\\":1}"', '{"a": "b', " {}"])


@st.composite
def answers(draw: st.DrawFn) -> tuple[dict[str, Any], list[Item]]:
    """A whole answer and a stream that says the same, cut somehow."""

    def pieces(text: str) -> list[str]:
        at = draw(st.integers(0, len(text)))
        return [piece for piece in (text[:at], text[at:]) if piece]

    reasoning, content, arguments = draw(TEXTS), draw(TEXTS), draw(st.lists(ARGUMENTS, max_size=3))
    finish = draw(st.sampled_from(["stop", "tool_calls", "length", "content_filter"]))
    found = [called(f"functions.f:{at}", "f", text) for at, text in enumerate(arguments)]
    items: list[Item] = [*map(thinks, pieces(reasoning)), *map(says, pieces(content))]
    for at, text in enumerate(arguments):
        items.append(calls(at, f"functions.f:{at}", "f"))
        items.extend(argues(at, piece) for piece in pieces(text))
    message = {"reasoning_content": reasoning, "content": content, "tool_calls": found}
    return whole(message, finish), [*items, chunk(finish=finish), counted()]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(answers())
def test_streams_equal_whole_answers(answer: tuple[dict[str, Any], list[Item]]) -> None:
    reply, items = answer
    assert accumulated(written(MESSAGES.encoder(ASKED), items)) == MESSAGES.encode(reply, ASKED)


def test_the_sdk_reads_our_errors() -> None:
    data = MESSAGES.encoder(ASKED).feed(says("a")) + MESSAGES.error_event(BadUpstream("cut"))
    with pytest.raises(APIStatusError, match="cut"):
        accumulated(data)


def test_the_sdk_skips_our_pings() -> None:
    ping = MESSAGES.keep_alive()
    assert ping == b'event: ping\ndata: {"type":"ping"}\n\n'
    encoder = MESSAGES.encoder(ASKED)
    data = ping + encoder.feed(says("a")) + ping + encoder.feed(Done())
    assert accumulated(data)["content"] == [{"type": "text", "text": "a"}]


def test_the_front_in_short() -> None:
    assert MESSAGES.decode(ASKED) == {"model": "claude-x", "messages": ASKED["messages"], "max_tokens": 9}
    assert MESSAGES.left_out(ASKED) == []
    error = BadRequest("no")
    assert MESSAGES.told(error) is error
    assert MESSAGES.error(error) == {"type": "error", "error": {"type": "invalid_request_error", "message": "no"}}
    assert MESSAGES.failed_stream(UpstreamRefused("prompt is too long", status=400), {"stream": True}) is None


def test_count_tokens() -> None:
    small, large = MESSAGES.count_tokens(ASKED), MESSAGES.count_tokens({**ASKED, "system": "word " * 1000})
    assert 0 < small["input_tokens"] < 50
    assert 900 < large["input_tokens"] < 1300
    with pytest.raises(BadRequest):
        MESSAGES.count_tokens({})


def test_models() -> None:
    assert MESSAGES.models(["a", "b"]) == {
        "data": [
            {"type": "model", "id": "a", "display_name": "a", "created_at": "1970-01-01T00:00:00Z"},
            {"type": "model", "id": "b", "display_name": "b", "created_at": "1970-01-01T00:00:00Z"},
        ],
        "has_more": False,
        "first_id": "a",
        "last_id": "b",
    }
    assert MESSAGES.models([])["first_id"] is None


def test_the_first_chunk_may_be_empty() -> None:
    items = [Chunk.of({**HEAD, "choices": []}), says("a"), chunk(finish="stop"), counted(USAGE)]
    assert accumulated(written(MESSAGES.encoder(ASKED), items))["content"] == [{"type": "text", "text": "a"}]
