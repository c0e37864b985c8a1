from __future__ import annotations

from typing import Any

import pytest

from moongate.kimi.answer.usage import lift_usage
from moongate.kimi.notes import Notes

CACHED = {"cached_tokens": 3}
LIFTED = {"cached_tokens": 3, "prompt_tokens_details": {"cached_tokens": 3}}


def lifted(payload: dict[str, Any]) -> tuple[dict[str, Any], int]:
    notes = Notes()
    return lift_usage(payload, notes), len(notes)


@pytest.mark.parametrize(
    "payload",
    [
        {},
        {"choices": None},
        {"choices": [None, {"usage": None}, {}]},
        {"usage": {"total_tokens": 1}, "choices": [{"usage": {"total_tokens": 2}}]},
        {"usage": LIFTED},
        {"usage": [1]},
        {"usage": {"cached_tokens": None}},
    ],
)
def test_usage_at_the_top_level_is_unchanged(payload: dict[str, Any]) -> None:
    assert lift_usage(payload, Notes()) is payload


def test_usage_of_the_last_choice_moves_to_the_top_level() -> None:
    payload = {"id": 1, "choices": [{"usage": {"a": 1}, "x": 1}, None, {"usage": {"a": 2}}, {"y": 1}]}
    assert lifted(payload) == ({"id": 1, "choices": [{"x": 1}, None, {}, {"y": 1}], "usage": {"a": 2}}, 1)


def test_cached_tokens_are_copied() -> None:
    assert lifted({"usage": CACHED}) == ({"usage": LIFTED}, 1)
    assert lifted({"choices": [{"usage": CACHED}]}) == ({"choices": [{}], "usage": LIFTED}, 2)
    details = {"cached_tokens": 3, "prompt_tokens_details": {"audio_tokens": 1, "cached_tokens": None}}
    expected = {"cached_tokens": 3, "prompt_tokens_details": {"audio_tokens": 1, "cached_tokens": 3}}
    assert lifted({"usage": details}) == ({"usage": expected}, 1)
    assert lifted({"usage": {**CACHED, "prompt_tokens_details": 7}})[0] == {"usage": LIFTED}


@pytest.mark.parametrize(
    "usage",
    [
        {"cache_write_tokens": 5},
        {"cache_creation_input_tokens": 5},
        {"cache_write_tokens": 5, "cache_creation_input_tokens": 7},
        {"prompt_tokens_details": {"cache_creation_input_tokens": 5}},
        {"cache_write_tokens": 7, "prompt_tokens_details": {"cache_creation_input_tokens": 5}},
    ],
)
def test_cache_writes_are_copied(usage: dict[str, Any]) -> None:
    details = {**usage.get("prompt_tokens_details", {}), "cache_write_tokens": 5}
    assert lifted({"usage": usage}) == ({"usage": {**usage, "prompt_tokens_details": details}}, 1)
    assert lifted({"choices": [{"usage": usage}]})[0]["usage"]["prompt_tokens_details"] == details


def test_cache_writes_in_their_place_are_unchanged() -> None:
    payload = {"usage": {"cache_write_tokens": 7, "prompt_tokens_details": {"cache_write_tokens": 0}}}
    assert lift_usage(payload, Notes()) is payload


def test_reads_and_writes_of_the_cache_are_copied_together() -> None:
    usage = {"cached_tokens": 3, "cache_write_tokens": 5}
    details = {"cached_tokens": 3, "cache_write_tokens": 5}
    assert lifted({"usage": usage}) == ({"usage": {**usage, "prompt_tokens_details": details}}, 2)
