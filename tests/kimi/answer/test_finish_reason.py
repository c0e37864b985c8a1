from __future__ import annotations

import pytest

from moongate.kimi.answer.finish_reason import final_finish_reason


@pytest.mark.parametrize(
    ("reason", "calls", "truncated", "enforced", "final"),
    [
        ("stop", True, False, True, "tool_calls"),
        (None, True, False, True, "tool_calls"),
        ("end_turn", True, False, True, "tool_calls"),
        ("length", True, False, True, "length"),
        ("content_filter", True, False, True, "content_filter"),
        ("tool_calls", False, False, True, "stop"),
        (None, False, False, True, "stop"),
        ("odd", False, False, True, "odd"),
        ("stop", True, False, False, "stop"),
        ("tool_calls", False, False, False, "tool_calls"),
        (None, True, False, False, None),
        ("stop", True, True, True, "length"),
        ("stop", True, True, False, "length"),
        ("content_filter", True, True, True, "content_filter"),
    ],
)
def test_finish_reason_rules(
    reason: str | None, calls: bool, truncated: bool, enforced: bool, final: str | None
) -> None:
    assert final_finish_reason(reason, calls=calls, truncated=truncated, enforced=enforced) == final
