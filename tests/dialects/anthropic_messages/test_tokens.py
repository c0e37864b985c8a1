from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from moongate.dialects.anthropic_messages.tokens import estimate, text_tokens

SAMPLES = json.loads((Path(__file__).parents[1] / "recordings" / "tokens.json").read_text(encoding="utf-8"))["samples"]
HI = {"role": "user", "content": "hi"}


@pytest.mark.parametrize("sample", SAMPLES, ids=[sample["kind"] for sample in SAMPLES])
def test_the_estimate_is_close_to_the_real_count(sample: dict[str, Any]) -> None:
    assert text_tokens(sample["text"]) == pytest.approx(sample["tokens"], rel=0.2)


def test_the_estimate_of_all_samples_is_closer() -> None:
    assert sum(text_tokens(sample["text"]) for sample in SAMPLES) == pytest.approx(
        sum(sample["tokens"] for sample in SAMPLES), rel=0.05
    )


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("", 0, 0),
        ("word", 0.9, 1.5),
        ("GATEWAY", 0.9, 2),
        ("Straße café", 2, 16),
        ("привет", 1, 4),
        ("2024", 2, 4),
        (" \n\n  ", 0.5, 3),
        ("===>>>", 0.7, 3),
        ("豈更", 1, 3),
        (".join", 0.5, 2),
    ],
)
def test_every_kind_of_piece(text: str, least: float, most: float) -> None:
    assert least <= text_tokens(text) <= most


def test_a_long_text_is_estimated_from_a_sample() -> None:
    text = "The gateway reads the request. " * 2000
    assert text_tokens(text, max_sample=4096) == pytest.approx(text_tokens(text), rel=0.05)


def test_everything_that_reaches_the_model_counts() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}
    call = {"id": "1", "type": "function", "function": {"name": "read", "arguments": '{"path": "/etc/hosts"}'}}
    tool = {"type": "function", "function": {"name": "read", "parameters": {"type": "object"}}}
    bare = estimate({"messages": [HI]})
    assert bare == 5
    for request in (
        {"messages": [HI, {"role": "system", "content": "be brief"}]},
        {"messages": [HI, {"role": "assistant", "content": None, "reasoning_content": "hm", "tool_calls": [call]}]},
        {"messages": [HI], "tools": [tool]},
        {"messages": [HI], "response_format": {"type": "json_schema"}},
    ):
        assert bare < estimate(request) < bare + 60
    seen = estimate({"messages": [{"role": "user", "content": [{"type": "text", "text": "what?"}, image]}]})
    assert 1024 < seen < 1040
