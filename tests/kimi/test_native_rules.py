from __future__ import annotations

import pytest
from tests.native.rules import rules_of

from moongate.kimi.notes import Notes


def test_ids() -> None:
    assert rules_of("kimi-k2").call_ids().claim("toolu_1", "f") == "functions.f:0"
    assert rules_of("kimi-k3").call_ids().claim("toolu_1", "f") == "toolu_1"


def test_markers() -> None:
    assert "<|tool_call_begin|>" in rules_of("kimi-k2").markers
    assert "<|open|>" in rules_of("kimi-k3").markers


def test_reasoning() -> None:
    assert rules_of().fills_reasoning({})
    assert not rules_of().fills_reasoning({"thinking": {"type": "disabled"}})
    assert not rules_of(reasoningHistory="off").fills_reasoning({})
    assert not rules_of(base_url="http://127.0.0.1").fills_reasoning({})


@pytest.mark.parametrize(
    ("base_url", "option", "writes"),
    [
        ("https://api.moonshot.ai/v1", "auto", True),
        ("http://127.0.0.1", "auto", False),
        ("http://127.0.0.1", "always", True),
        ("https://api.moonshot.ai/v1", "off", False),
    ],
)
def test_schemas(base_url: str, option: str, writes: bool) -> None:
    assert (rules_of(base_url=base_url, schemaRules=option).schema_writer(Notes()) is not None) is writes
