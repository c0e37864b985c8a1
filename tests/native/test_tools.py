from __future__ import annotations

from typing import Any

import pytest
from tests.native.rules import rules_of

from moongate.kimi.notes import Notes
from moongate.native.tools import mended_tools

BAD = {"type": "object", "properties": {"a": {"type": "string", "anyOf": [{"type": "string"}]}}}
GOOD = {"type": "object", "properties": {"a": {"type": "string"}}}


def mended(tools: Any, **options: Any) -> Any:
    body = {"tools": tools}
    return mended_tools(body, "input_schema", rules_of(**options), Notes()), body


def test_a_schema_is_brought_into_form() -> None:
    found, _ = mended([{"name": "f", "input_schema": BAD, "extra": 1}, {"name": "g", "input_schema": GOOD}])
    assert found["tools"][0]["input_schema"] != BAD
    assert found["tools"][0]["extra"] == 1
    assert found["tools"][1] == {"name": "g", "input_schema": GOOD}


@pytest.mark.parametrize(
    "tools", [None, 7, [], [7], [{"type": "web_search"}], [{"input_schema": 7}], [{"name": "f", "input_schema": GOOD}]]
)
def test_what_is_left_alone(tools: Any) -> None:
    found, body = mended(tools)
    assert found is body


def test_a_schema_with_names_that_would_come_back() -> None:
    named = {"type": "object", "properties": {"a b?": {"type": "string"}}}
    found, body = mended([{"name": "f", "input_schema": named}])
    assert found is body


def test_rules_off() -> None:
    found, body = mended([{"name": "f", "input_schema": BAD}], schemaRules="off")
    assert found is body
