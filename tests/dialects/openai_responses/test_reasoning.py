from __future__ import annotations

from typing import Any

import pytest

from moongate.dialects.openai_responses.reasoning import reasoning_text, sealed, unsealed


@pytest.mark.parametrize("content", [None, 3, "", "gAAAAABo", "moongate1.§", "moongate1.a", "moongate1./w=="])
def test_encrypted_content_of_other_origin_is_not_read(content: Any) -> None:
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
