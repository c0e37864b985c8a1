from __future__ import annotations

import pytest

from moongate.kimi.finish import judged


@pytest.mark.parametrize(
    ("reason", "calls", "cut", "enforced", "final"),
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
def test_section_6(reason: str | None, calls: bool, cut: bool, enforced: bool, final: str | None) -> None:
    assert judged(reason, calls=calls, cut=cut, enforced=enforced) == final
