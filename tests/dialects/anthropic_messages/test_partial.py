from __future__ import annotations

from typing import Any

import pytest

from moongate.dialects.anthropic_messages.partial import readable_object


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        ('{"a": 1, "b": "x', {"a": 1}),
        ('{"a": {"b": [1, "c', {"a": {"b": [1]}}),
        ('{"a": tru', {}),
        ('{"a": 1}} and more', {"a": 1}),
        ('{"a": [1, {"b": 2}], "c"', {"a": [1, {"b": 2}]}),
        ('{"a": [123456789012345678901234567890], "b": 1.0}', {"a": [123456789012345678901234567890], "b": 1.0}),
        ('{"a": 123456789012345678901234567890, "b": "x', {"a": 123456789012345678901234567890}),
        ("", {}),
        ("}{", {}),
        ("text", {}),
        ("[1, 2]", {}),
        ('{"a": 1 "b": 2', {}),
    ],
)
def test_the_readable_part(text: str, value: dict[str, Any]) -> None:
    assert readable_object(text) == value
