from __future__ import annotations

from typing import Any

import pytest

from moongate.kimi.notes import Notes
from moongate.kimi.usage import lift_usage

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
def test_nothing_to_lift(payload: dict[str, Any]) -> None:
    assert lift_usage(payload, Notes()) is payload


def test_usage_of_a_choice_is_lifted_and_the_last_one_counts() -> None:
    payload = {"id": 1, "choices": [{"usage": {"a": 1}, "x": 1}, None, {"usage": {"a": 2}}, {"y": 1}]}
    assert lifted(payload) == ({"id": 1, "choices": [{"x": 1}, None, {}, {"y": 1}], "usage": {"a": 2}}, 1)


def test_cached_tokens_are_copied() -> None:
    assert lifted({"usage": CACHED}) == ({"usage": LIFTED}, 1)
    assert lifted({"choices": [{"usage": CACHED}]}) == ({"choices": [{}], "usage": LIFTED}, 2)
    details = {"cached_tokens": 3, "prompt_tokens_details": {"audio_tokens": 1, "cached_tokens": None}}
    expected = {"cached_tokens": 3, "prompt_tokens_details": {"audio_tokens": 1, "cached_tokens": 3}}
    assert lifted({"usage": details}) == ({"usage": expected}, 1)
    assert lifted({"usage": {**CACHED, "prompt_tokens_details": 7}})[0] == {"usage": LIFTED}
