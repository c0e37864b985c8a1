"""Property tests of `reasoning`; `test_reasoning` has the examples."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.length import examples

from moongate.dialects.openai_responses.reasoning import sealed, unsealed


@settings(max_examples=examples(100), deadline=None, derandomize=True)
@given(st.text(st.characters(), max_size=20))
def test_sealed_reasoning_can_be_unsealed(text: str) -> None:
    assert unsealed(sealed(text)) == text
    assert sealed(text).startswith("moongate1.")
