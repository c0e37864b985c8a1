"""Property tests of `partial`; `test_partial` has the examples."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from jiter import from_json
from tests.support.length import examples

from moongate.dialects.anthropic_messages.partial import readable_object

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


@settings(max_examples=examples(150), deadline=None, derandomize=True)
@given(OBJECTS, st.booleans(), st.integers(0, 400))
def test_a_truncated_object_is_read_as_the_sdk_reads_it(value: dict[str, Any], ascii_only: bool, cut: int) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only)[: cut + 1]
    assert readable_object(text) == from_json(text.encode(), partial_mode=True)
