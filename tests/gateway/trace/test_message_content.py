"""Prompts and answers as attributes."""

from __future__ import annotations

import json
import time

import pytest
from tests.gateway.scripted import DONE, chunk

from moongate.gateway.trace.message_content import MAX_CONTENT, answer_text, messages_text, with_parts

CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}


def test_messages_are_taken_as_they_are_or_with_parts() -> None:
    messages = [{"role": "user", "content": "hi"}]
    assert json.loads(messages_text({"messages": messages}, newest=False)) == messages
    assert json.loads(messages_text({"messages": messages}, newest=True)) == [
        {"role": "user", "parts": [{"type": "text", "content": "hi"}]}
    ]
    assert json.loads(messages_text({"input": "hello"}, newest=True)) == "hello"
    assert len(messages_text({"input": "x" * 200_000}, newest=False)) == MAX_CONTENT


def test_every_kind_of_part() -> None:
    assert with_parts({"role": "assistant", "content": "", "tool_calls": [CALL, None]}) == {
        "role": "assistant",
        "parts": [{"type": "tool_call", "id": "c1", "name": "look", "arguments": "{}"}],
    }
    assert with_parts({"role": "tool", "tool_call_id": "c1", "content": "42"})["parts"] == [
        {"type": "tool_call_response", "id": "c1", "response": "42"}
    ]
    image = {"type": "image_url", "image_url": {"url": "x"}}
    assert with_parts({"role": "user", "content": [{"type": "text", "text": "a"}, image, 5]})["parts"] == [
        {"type": "text", "content": "a"},
        image,
        {"type": "text", "content": "5"},
    ]
    assert with_parts({})["role"] == "assistant"


def test_answers_whole_and_streamed_become_the_same() -> None:
    message = {"role": "assistant", "content": "Hello."}
    whole = json.dumps({"choices": [{"index": 0, "message": message}]})
    streamed = (chunk("Hel") + chunk("lo.") + chunk("", "stop") + DONE).decode()
    for body in (whole, streamed):
        [found] = json.loads(answer_text(body, newest=False))
        assert (found["role"], found["content"]) == ("assistant", "Hello.")
        assert json.loads(answer_text(body, newest=True))[0]["parts"] == [{"type": "text", "content": "Hello."}]


def test_any_other_body_is_shown_as_it_is() -> None:
    event = 'event: message_start\ndata: {"type":"message_start"}\n\n'
    for body in (event, '{"type":"message","content":[]}', "", '{"choices":5}', "{broken", "data: {broken\n\n"):
        assert answer_text(body, newest=True) == body


SECRET = "sk-a-secret-0123456789"


def mask(text: str) -> str:
    return text.replace(SECRET, "[secret]")


@pytest.mark.parametrize("at", range(MAX_CONTENT - len(SECRET) - 4, MAX_CONTENT + 4, 7))
@pytest.mark.parametrize("newest", [False, True])
def test_a_secret_where_a_text_is_cut_leaves_nothing(at: int, newest: bool) -> None:
    content = "x" * (at - 40) + SECRET + "y" * 100_000
    message = {"role": "user", "content": content}
    body = json.dumps({"choices": [{"message": message}]})
    for shown in (
        messages_text({"messages": [message] * 2}, newest, mask),
        messages_text({"input": content}, newest, mask),
        answer_text(body, newest, mask),
        answer_text(content, newest, mask),
    ):
        assert len(shown) <= MAX_CONTENT
        assert SECRET[:6] not in shown


def test_a_secret_in_pieces_of_a_stream_is_masked_when_they_are_put_together() -> None:
    body = (chunk(SECRET[:9]) + chunk(SECRET[9:]) + chunk("", "stop") + DONE).decode()
    assert "[secret]" in answer_text(body, False, mask)


@pytest.mark.parametrize("content", ["x", [{"type": "text", "text": "x"}] * 300_000])
def test_no_more_of_a_history_is_read_than_is_shown(content: object) -> None:
    chat = {"messages": [{"role": "user", "content": content}] * (200_000 if content == "x" else 1)}
    spent = []
    for _ in range(3):
        start = time.thread_time()
        messages_text(chat, newest=True)
        spent.append(time.thread_time() - start)
        if spent[-1] < 0.05:
            break
    assert min(spent) < 0.05, spent
