"""Equality of JSON values."""

from __future__ import annotations

from typing import Any

import pytest

from moongate.kimi.guard.check import SchemaCheck
from moongate.kimi.guard.equality import canonical, equal, is_among

CHECK = SchemaCheck(True)


@pytest.mark.parametrize(
    ("first", "second"), [(1, 1.0), ([1, {"a": 2.0, "b": None}], [1.0, {"b": None, "a": 2}]), ("a", "a"), (None, None)]
)
def test_equal_as_json(first: Any, second: Any) -> None:
    assert equal(CHECK, first, second)
    assert canonical(CHECK, first) == canonical(CHECK, second)
    assert is_among(CHECK, first, [0.5, second])


@pytest.mark.parametrize(
    ("first", "second"), [(1, True), (0, False), (1, "1"), (None, 0), ([1], [2]), ("a", "b"), ({}, [])]
)
def test_not_equal_as_json(first: Any, second: Any) -> None:
    assert not equal(CHECK, first, second)
    assert not is_among(CHECK, first, [second])
    assert not is_among(CHECK, second, [first, 1.5])
