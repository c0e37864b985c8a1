from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moongate.dialects.responses.reasoning import reasoning_text, sealed, unsealed


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.text(st.characters(), max_size=20))
def test_what_was_sealed_comes_back(text: str) -> None:
    assert unsealed(sealed(text)) == text
    assert sealed(text).startswith("moongate1.")


@pytest.mark.parametrize("content", [None, 3, "", "gAAAAABo", "moongate1.§", "moongate1.a", "moongate1./w=="])
def test_what_others_sealed_is_not_read(content: Any) -> None:
    assert unsealed(content) is None


@pytest.mark.parametrize(
    ("item", "text"),
    [
        ({"encrypted_content": sealed("a"), "summary": [{"text": "b"}]}, "a"),
        (
            {
                "encrypted_content": "x",
                "content": [{"type": "reasoning_text", "text": "c"}],
                "summary": [{"text": "b"}],
            },
            "c",
        ),
        ({"encrypted_content": None, "content": None, "summary": [{"text": "a"}, {"text": "b"}]}, "ab"),
        ({}, ""),
    ],
)
def test_the_reasoning_of_an_item(item: dict[str, Any], text: str) -> None:
    assert reasoning_text(item) == text
