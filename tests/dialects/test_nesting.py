from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moongate.dialects.nesting import Nesting

JSON = st.recursive(st.none() | st.integers() | st.text(max_size=5), st.lists, max_leaves=6)


@pytest.mark.parametrize(
    ("pieces", "complete"),
    [
        (['{"a":1}'], True),
        (['{"a":[{}]}'], True),
        (['{"a":"}"'], False),
        (['{"a":"}"', "}"], True),
        (['{"a":"\\', '"}"', "}"], True),
        (['{"a":"\\\\"}'], True),
        ([""], False),
        (["", "  "], False),
        (["[1,", "2", "]"], True),
        (["\\{", "}"], True),
        (["{}", "{"], True),
    ],
)
def test_the_end_of_the_outermost_bracket_completes(pieces: list[str], complete: bool) -> None:
    nesting = Nesting()
    for piece in pieces:
        nesting.feed(piece)
    assert nesting.complete is complete


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.dictionaries(st.text(max_size=5), JSON, max_size=4), st.data())
def test_a_whole_object_is_complete_at_its_last_character_and_not_before(value: object, data: st.DataObject) -> None:
    text = json.dumps(value, ensure_ascii=data.draw(st.booleans()))
    cut = data.draw(st.integers(0, len(text) - 1))
    nesting = Nesting()
    nesting.feed(text[:cut])
    assert not nesting.complete
    nesting.feed(text[cut:])
    assert nesting.complete
