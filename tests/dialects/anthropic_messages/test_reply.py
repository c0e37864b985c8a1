from __future__ import annotations

import json
import re
from typing import Any

import pytest

from moongate.dialects.anthropic_messages.reply import (
    KnownIds,
    boxed,
    call_id,
    message_id,
    message_of,
    signature_of,
    stop_fields,
    usage_body,
)
from moongate.dialects.chat_answer import AnswerHead, Finish

HEAD = AnswerHead("chatcmpl-1.2", "kimi", 5)


def test_ids_are_derived_from_the_answer_id() -> None:
    assert message_id(HEAD) == "msg_1_2"
    assert message_id(AnswerHead("", "", 0)) == "msg_0"
    assert call_id("functions.f:0", HEAD, 3, KnownIds({})) == "functions--f--0"
    assert call_id("", HEAD, 3, KnownIds({})) == "msg_1_2_3"
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", call_id("", AnswerHead("x" * 90, "", 0), 3, KnownIds({})))


def test_a_digest_that_the_client_already_has_is_replaced() -> None:
    long = "x" * 90
    first = call_id(long, HEAD, 0, KnownIds({"messages": [{"role": "user", "content": "hi"}]}))
    blocks = [{"type": "text", "text": "a"}, {"type": "tool_use", "id": first, "name": "f", "input": {}}]
    request = {"messages": [{"role": "assistant", "content": blocks}]}
    second = call_id(long, AnswerHead("chatcmpl-3", "", 0), 0, KnownIds(request))
    assert first.startswith("toolu_")
    assert second.startswith("toolu_")
    assert second != first
    assert call_id("y" * 90, HEAD, 0, KnownIds(request)) == call_id("y" * 90, HEAD, 0, KnownIds({}))


def test_the_history_is_read_once_however_many_calls_have_digests() -> None:
    class Messages(list[Any]):
        read = 0

        def __iter__(self) -> Any:
            self.read += 1
            return super().__iter__()

    messages = Messages([{"role": "user", "content": "hi"}])
    known = KnownIds({"messages": messages})
    assert call_id("call_1", HEAD, 0, known) == "call_1"
    assert messages.read == 0
    for at in range(100):
        call_id(f"toolu_{at}", HEAD, at, known)
    assert messages.read == 1


def test_signatures_differ_by_answer_and_block() -> None:
    signatures = {
        signature_of(HEAD, 0),
        signature_of(HEAD, 1),
        signature_of(AnswerHead("x", "", 0), 0),
        signature_of(HEAD, 0),
    }
    assert len(signatures) == 3


def test_the_message_names_the_requested_model() -> None:
    assert message_of(HEAD, {"model": "claude-x"})["model"] == "claude-x"
    assert message_of(HEAD, {})["model"] == "kimi"


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("stop", "end_turn"),
        ("tool_calls", "tool_use"),
        ("function_call", "tool_use"),
        ("length", "max_tokens"),
        ("content_filter", "refusal"),
        ("unexpected_state", "end_turn"),
    ],
)
def test_stop_reasons(reason: str, expected: str) -> None:
    assert stop_fields(Finish(reason, None, None), {}) == {"stop_reason": expected, "stop_sequence": None}


@pytest.mark.parametrize(
    ("reason", "stop", "sequences", "expected"),
    [
        ("stop", "END", ["END"], ("stop_sequence", "END")),
        ("stop", "END", ["OTHER"], ("end_turn", None)),
        ("stop", None, ["END"], ("end_turn", None)),
        ("stop", "END", None, ("end_turn", None)),
        ("tool_calls", "END", ["END"], ("tool_use", None)),
    ],
)
def test_stop_sequences(reason: str, stop: str | None, sequences: Any, expected: tuple[str, str | None]) -> None:
    fields = stop_fields(Finish(reason, stop, None), {"stop_sequences": sequences})
    assert (fields["stop_reason"], fields["stop_sequence"]) == expected


@pytest.mark.parametrize(
    "written",
    [
        {"prompt_tokens_details": {"cached_tokens": 5, "cache_write_tokens": 4}},
        {"prompt_tokens_details": {"cached_tokens": 5, "cache_creation_input_tokens": 4}},
        {"prompt_tokens_details": {"cached_tokens": 5}, "cache_creation_input_tokens": 4},
        {"cached_tokens": 5, "cache_write_tokens": 4},
    ],
)
def test_usage_counts_cache_writes_separately(written: Any) -> None:
    assert usage_body({"prompt_tokens": 20, "completion_tokens": 7, **written}) == {
        "input_tokens": 11,
        "cache_creation_input_tokens": 4,
        "cache_read_input_tokens": 5,
        "output_tokens": 7,
    }


def test_usage_counts_cached_tokens_separately() -> None:
    usage = {"prompt_tokens": 20, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 5}}
    assert usage_body(usage) == {
        "input_tokens": 15,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 5,
        "output_tokens": 7,
    }


@pytest.mark.parametrize(
    ("arguments", "value"),
    [
        ('"{\\"a\\": 1}"', {"a": 1}),
        ("[1]", {"arguments": [1]}),
        ('"text"', {"arguments": "text"}),
        ("oops", {"arguments": "oops"}),
        ("null", {"arguments": None}),
    ],
)
def test_arguments_that_are_no_object_are_wrapped_in_one(arguments: str, value: dict[str, Any]) -> None:
    assert json.loads(boxed(arguments)) == value
