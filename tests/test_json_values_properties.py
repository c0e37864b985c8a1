from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from moongate import payload
from moongate.payload import dumps, more_values_than

JSON = st.recursive(
    st.none() | st.integers(0, 9) | st.text('a,[{"\\'),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text('a,"\\', max_size=3), inner, max_size=5),
    max_leaves=30,
)


def bounds(value: Any) -> tuple[int, int]:
    """The number of values, and the number of lists and objects that are empty."""
    if not isinstance(value, list | dict):
        return 1, 0
    inner = [bounds(each) for each in (value.values() if isinstance(value, dict) else value)]
    return 1 + sum(count for count, _ in inner), sum(empty for _, empty in inner) + (not inner)


@given(JSON, st.integers(0, 40), st.integers(1, 9))
def test_values_are_counted_outside_of_strings(value: Any, limit: int, size: int) -> None:
    data = dumps(value)
    count, empty = bounds(value)
    old, payload.SLICE = payload.SLICE, size  # type: ignore[misc]
    try:
        found = more_values_than(data, limit)
    finally:
        payload.SLICE = old  # type: ignore[misc]
    # The bracket of an empty list is counted as if it had a first value.
    if count > limit:
        assert found or len(data) <= limit
    elif count + empty <= limit:
        assert not found
