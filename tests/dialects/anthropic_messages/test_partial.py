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


@pytest.mark.parametrize("depth", [*range(900, 1024, 10), 100_000])
@pytest.mark.parametrize("number", ["1234567890123456789012", '"1234567890123456789012"'])
@pytest.mark.parametrize("end", ["}", ', "c": "x'])
def test_deep_values_beside_long_numbers(depth: int, number: str, end: str) -> None:
    """Deeper than integers can be read with all digits, and than anything can be read."""
    found = readable_object(f'{{"b": {number}, "a": {"[" * depth}{"]" * depth}{end}')
    assert found == {} or found.keys() == {"a", "b"}
