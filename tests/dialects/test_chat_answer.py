from __future__ import annotations

from typing import Any

import pytest

from moongate.dialects.chat_answer import (
    AnswerHead,
    Finish,
    answer_id,
    arguments_of,
    custom_body,
    first_choice,
    head_of,
    reasoning_of,
    stop_of,
    text_of,
    texts_of,
    usage_of,
)


def test_the_head_of_an_answer() -> None:
    head = head_of({"id": "x", "model": "m", "created": 5})
    assert (head.id, head.model, head.created) == ("x", "m", 5)
    head = head_of({"id": None, "created": "soon"})
    assert (head.id, head.model, head.created) == ("", "", 0)


@pytest.mark.parametrize(
    ("given", "root"),
    [("chatcmpl-1aZ", "1aZ"), ("chatcmpl-1.2", "1_2"), ("a-b_c", "a-b_c"), ("é٣", "__"), ("", "0"), ("chatcmpl-", "0")],
)
def test_ids_are_derived_from_the_answer_id(given: str, root: str) -> None:
    assert answer_id(AnswerHead(given, "", 0)) == root


@pytest.mark.parametrize(
    ("usage", "counts"),
    [
        (None, (0, 0, 0, 0)),
        ({"prompt_tokens": 9, "completion_tokens": 4, "cached_tokens": 3}, (9, 3, 4, 0)),
        ({"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 2}, "cached_tokens": 3}, (9, 2, 0, 0)),
        ({"prompt_tokens": 2, "cached_tokens": 5}, (2, 2, 0, 0)),
        ({"completion_tokens": 8, "completion_tokens_details": {"reasoning_tokens": 6}}, (0, 0, 8, 6)),
        ({"prompt_tokens": float("inf"), "completion_tokens": 1.0}, (2**53, 0, 1, 0)),
        ({"prompt_tokens": "many", "completion_tokens": -1, "prompt_tokens_details": None}, (0, 0, 0, 0)),
    ],
)
def test_usage_ignores_invalid_counts(usage: dict[str, Any] | None, counts: tuple[int, ...]) -> None:
    found = usage_of(usage)
    assert (found.prompt, found.cached, found.completion, found.reasoning) == counts


@pytest.mark.parametrize(
    ("usage", "written"),
    [
        ({"prompt_tokens": 9, "cache_write_tokens": 4}, 4),
        ({"prompt_tokens": 9, "cached_tokens": 6, "cache_creation_input_tokens": 4}, 3),
        ({"prompt_tokens": 9, "prompt_tokens_details": {"cache_write_tokens": 2}, "cache_write_tokens": 4}, 2),
        ({"prompt_tokens": 9, "prompt_tokens_details": {}, "cache_creation_input_tokens": 4}, 4),
        ({"prompt_tokens": 9, "cache_write_tokens": "many"}, 0),
    ],
)
def test_cache_writes_are_part_of_the_prompt(usage: dict[str, Any], written: int) -> None:
    assert usage_of(usage).cache_written == written


@pytest.mark.parametrize(
    ("payload", "choice"),
    [
        ({}, None),
        ({"choices": []}, None),
        ({"choices": "none"}, None),
        ({"choices": [None, {"index": 1}, {"index": 0, "a": 1}]}, {"index": 0, "a": 1}),
        ({"choices": [{"index": 1}]}, None),
        ({"choices": [{"index": 0, "b": 1}, {"index": 1}]}, {"index": 0, "b": 1}),
        ({"choices": [{"a": 1}]}, {"a": 1}),
    ],
)
def test_the_first_choice_has_index_0(payload: dict[str, Any], choice: dict[str, Any] | None) -> None:
    assert first_choice(payload) == choice


@pytest.mark.parametrize(
    ("delta", "text"),
    [
        ({}, ""),
        ({"reasoning_content": "a", "reasoning": "b"}, "a"),
        ({"reasoning_content": None, "reasoning": "b"}, "b"),
        ({"reasoning": 3}, ""),
        ({"reasoning_details": [{"text": "a"}, {"text": None}, {"text": "b"}]}, "ab"),
    ],
)
def test_reasoning_has_several_names(delta: dict[str, Any], text: str) -> None:
    assert reasoning_of(delta) == text


@pytest.mark.parametrize(
    ("delta", "text"),
    [
        ({"content": "a"}, "a"),
        ({"content": None}, ""),
        ({"content": [{"type": "text", "text": "a"}, {"text": "b"}]}, "ab"),
        ({"content": None, "refusal": "no"}, "no"),
    ],
)
def test_text_is_a_string_or_parts_or_a_refusal(delta: dict[str, Any], text: str) -> None:
    assert text_of(delta) == text


def test_invalid_parts_have_no_text() -> None:
    assert texts_of("text") == ""
    assert texts_of([1, {"text": 2}, {"text": "x"}]) == "x"


def test_arguments_are_text() -> None:
    assert arguments_of({"arguments": '{"a": 1}'}) == '{"a": 1}'
    assert arguments_of({"arguments": {"a": 1}}) == '{"a":1}'
    assert arguments_of({}) == ""


def test_a_call_of_a_custom_tool_has_an_input() -> None:
    assert custom_body({"custom": {"name": "patch", "input": "*"}}) == {"name": "patch", "arguments": "*"}
    assert custom_body({"custom": "odd"}) == custom_body({}) == {}


def test_the_stop_sequence_that_providers_report() -> None:
    assert stop_of({"stop_reason": "END"}) == "END"
    assert stop_of({"stop_reason": 163586, "matched_stop": "END"}) == "END"
    assert stop_of({"stop_reason": None, "matched_stop": 7}) is None


def test_how_an_answer_ended() -> None:
    finish = Finish("stop", "END", {"prompt_tokens": 1})
    assert (finish.reason, finish.stop, finish.usage) == ("stop", "END", {"prompt_tokens": 1})
