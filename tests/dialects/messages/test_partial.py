from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jiter import from_json

from moongate.dialects.messages.partial import readable_object

OBJECTS = st.dictionaries(
    st.text('a"\\{}[],: é\n', max_size=4),
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-99, 99)
        | st.sampled_from([1.5, -2e-7])
        | st.text('b"\\]},:', max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("xy", max_size=2), inner, max_size=3),
        max_leaves=6,
    ),
    max_size=4,
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        ('{"a": 1, "b": "x', {"a": 1}),
        ('{"a": {"b": [1, "c', {"a": {"b": [1]}}),
        ('{"a": tru', {}),
        ('{"a": 1}} and more', {"a": 1}),
        ('{"a": [1, {"b": 2}], "c"', {"a": [1, {"b": 2}]}),
        ("", {}),
        ("}{", {}),
        ("text", {}),
        ("[1, 2]", {}),
        ('{"a": 1 "b": 2', {}),
    ],
)
def test_what_can_be_read(text: str, value: dict[str, Any]) -> None:
    assert readable_object(text) == value


@settings(max_examples=150, deadline=None, derandomize=True)
@given(OBJECTS, st.booleans(), st.integers(0, 400))
def test_a_cut_object_reads_as_the_clients_accumulator_reads_it(
    value: dict[str, Any], ascii_only: bool, cut: int
) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only)[: cut + 1]
    assert readable_object(text) == from_json(text.encode(), partial_mode=True)
