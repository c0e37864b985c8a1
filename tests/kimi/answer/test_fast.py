"""Whole answers that no rule can change."""

from __future__ import annotations

from typing import Any

import pytest
from tests.kimi.answering import PARSING, begin, call

from moongate.kimi.answer.fast import needs_no_repair
from moongate.kimi.answer.whole_choice import repair_choice

Row = dict[str, Any]


def answers() -> list[tuple[Row, str | None, bool]]:
    return [
        ({"content": "a"}, "stop", True),
        ({"content": "a", "reasoning": "r", "reasoning_content": "s", "tool_calls": []}, "stop", True),
        ({"content": "a"}, "length", False),
        ({"content": "a"}, None, False),
        ({"content": ""}, "stop", False),
        ({"content": ["a"]}, "stop", False),
        ({"content": "a < b"}, "stop", False),
        ({"content": "a", "reasoning": "a < b"}, "stop", False),
        ({"content": "a", "reasoning_content": ["odd"]}, "stop", False),
        ({"content": "a", "tool_calls": [call()]}, "stop", False),
    ]


@pytest.mark.parametrize(("message", "reason", "expected"), answers())
def test_answers_that_need_no_repair(message: Row, reason: str | None, expected: bool) -> None:
    choice = {"index": 0, "message": message, "finish_reason": reason}
    assert needs_no_repair(begin().answer, choice, message) is expected


@pytest.mark.parametrize("options", [None, PARSING, {"preset": "agent"}])
@pytest.mark.parametrize(("message", "reason", "_"), answers())
def test_the_shortcut_changes_no_result(options: Row | None, message: Row, reason: str | None, _: bool) -> None:
    choice = {"index": 0, "message": message, "finish_reason": reason}
    fast, plain = begin(options), begin(options)
    plain.answer.fast = False
    assert repair_choice(fast.answer, 0, choice) == repair_choice(plain.answer, 0, choice)
    assert list(fast.notes) == list(plain.notes)
