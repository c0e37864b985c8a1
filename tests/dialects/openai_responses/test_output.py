from __future__ import annotations

from typing import Any

import pytest

from moongate.dialects.openai_responses.output import reasoned_item, reasoning_item, summary_part, text_item, text_part
from moongate.dialects.openai_responses.reasoning import unsealed


def test_texts() -> None:
    part = {"type": "output_text", "text": "a", "annotations": [], "logprobs": []}
    assert text_part("a") == part
    assert text_item("msg_1", [part], "completed") == {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [part],
    }


def test_reasoning() -> None:
    part = {"type": "summary_text", "text": "a"}
    assert summary_part("a") == part
    assert reasoning_item("rs_1", []) == {"id": "rs_1", "type": "reasoning", "summary": []}
    assert reasoned_item("rs_1", "a", {}) == {"id": "rs_1", "type": "reasoning", "summary": [part]}


@pytest.mark.parametrize("included", [None, [], 3.5, "reasoning.encrypted_content"])
def test_reasoning_is_sealed_only_if_requested(included: Any) -> None:
    assert "encrypted_content" not in reasoned_item("rs_1", "a", {"include": included})
    sealed = reasoned_item("rs_1", "a", {"include": [None, "reasoning.encrypted_content"]})
    assert unsealed(sealed["encrypted_content"]) == "a"
