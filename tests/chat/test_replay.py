"""One completion as a stream."""

from __future__ import annotations

from typing import Any

from moongate.chat.accumulate import Accumulator
from moongate.chat.replay import chunks_of

CALL = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
COMPLETION: dict[str, Any] = {
    "id": "c",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "x_top": [1],
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "Hi", "reasoning_content": "r", "tool_calls": [CALL]},
            "logprobs": {"content": [1]},
            "finish_reason": "tool_calls",
        },
        {"index": 1, "message": {"role": "assistant", "content": "Ho"}, "finish_reason": "stop"},
    ],
    "usage": {"total_tokens": 3},
}


def test_the_chunks_put_together_are_the_completion() -> None:
    accumulator = Accumulator()
    for chunk in chunks_of(COMPLETION):
        accumulator.feed(chunk.payload)
    assert accumulator.completion() == COMPLETION


def test_calls_leave_as_ordinary_deltas() -> None:
    deltas = [chunk.payload["choices"][0]["delta"] for chunk in chunks_of(COMPLETION)]
    assert deltas == [
        {"role": "assistant", "content": "Hi", "reasoning_content": "r"},
        {"tool_calls": [{"index": 0, "id": "a", "type": "function", "function": {"name": "f", "arguments": ""}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]},
        {},
        {"role": "assistant", "content": "Ho"},
        {},
    ]


def test_the_usage_comes_with_the_last_finish_reason() -> None:
    payloads = [chunk.payload for chunk in chunks_of(COMPLETION)]
    assert [payload.get("usage") for payload in payloads] == [None] * 5 + [{"total_tokens": 3}]
    assert {payload["object"] for payload in payloads} == {"chat.completion.chunk"}


def test_summaries_stand_on_the_finishing_chunk_of_choices_with_calls() -> None:
    choices = [chunk.payload["choices"][0] for chunk in chunks_of(COMPLETION, summaries=True)]
    messages = [choice.get("message") for choice in choices if choice["finish_reason"]]
    assert messages == [{"role": "assistant", "content": "Hi", "tool_calls": [CALL]}, None]


def test_odd_shapes() -> None:
    assert chunks_of({}) == []
    assert chunks_of({"choices": {}}) == []
    assert chunks_of({"choices": [1]}) == []
    (first, last) = chunks_of({"choices": [{"message": None}]})
    assert first.payload["choices"] == [{"index": 0, "delta": {"role": "assistant"}, "finish_reason": None}]
    assert last.payload["choices"] == [{"index": 0, "delta": {}, "finish_reason": None}]
    odd = {"choices": [{"message": {"tool_calls": [1, {"id": "a"}]}}]}
    entries = [chunk.payload["choices"][0]["delta"].get("tool_calls") for chunk in chunks_of(odd)]
    assert entries == [None, [{"index": 0, "id": "a", "function": {"arguments": ""}}], None]


def test_a_custom_call_is_one_delta() -> None:
    call = {"id": "c", "type": "custom", "custom": {"name": "patch", "input": "*"}}
    chunks = chunks_of({"choices": [{"message": {"tool_calls": [call]}, "finish_reason": "tool_calls"}]})
    assert chunks[1].payload["choices"][0]["delta"] == {"tool_calls": [{"index": 0, **call}]}
