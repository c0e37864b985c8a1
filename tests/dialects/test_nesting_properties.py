"""Property tests of `nesting`; `test_nesting` has the examples."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.length import examples

from moongate.dialects.nesting import Nesting

JSON = st.recursive(st.none() | st.integers() | st.text(max_size=5), st.lists, max_leaves=6)


@settings(max_examples=examples(100), deadline=None, derandomize=True)
@given(st.dictionaries(st.text(max_size=5), JSON, max_size=4), st.data())
def test_a_whole_object_is_complete_at_its_last_character_and_not_before(value: object, data: st.DataObject) -> None:
    text = json.dumps(value, ensure_ascii=data.draw(st.booleans()))
    cut = data.draw(st.integers(0, len(text) - 1))
    nesting = Nesting()
    nesting.feed(text[:cut])
    assert not nesting.complete
    nesting.feed(text[cut:])
    assert nesting.complete
