from __future__ import annotations

from typing import Any

import pytest

from moongate.dialects.responses.calls import call_item, freeform
from moongate.dialects.responses.tools import Called


@pytest.mark.parametrize(
    ("called", "arguments", "item"),
    [
        (Called("function", "f"), '{"a":1}', {"type": "function_call", "name": "f", "arguments": '{"a":1}'}),
        (
            Called("function", "close", "agents"),
            "{}",
            {"type": "function_call", "name": "close", "namespace": "agents", "arguments": "{}"},
        ),
        (Called("custom", "apply"), '{"input":"x"}', {"type": "custom_tool_call", "name": "apply", "input": "x"}),
        (
            Called("local_shell", "local_shell"),
            '{"command":["ls"],"timeout_ms":5}',
            {"type": "local_shell_call", "action": {"type": "exec", "command": ["ls"], "env": {}, "timeout_ms": 5}},
        ),
        (
            Called("local_shell", "local_shell"),
            "oops",
            {"type": "local_shell_call", "action": {"type": "exec", "command": [], "env": {}}},
        ),
        (
            Called("tool_search", "tool_search"),
            '{"query":"x"}',
            {"type": "tool_search_call", "execution": "client", "arguments": {"query": "x"}},
        ),
    ],
)
def test_every_kind_of_tool_has_its_item(called: Called, arguments: str, item: dict[str, Any]) -> None:
    assert call_item(called, "i1", "c1", arguments) == {"id": "i1", "call_id": "c1", **item}


@pytest.mark.parametrize(
    ("arguments", "text"),
    [('{"input":"x"}', "x"), ("*** Begin Patch", "*** Begin Patch"), ('{"patch":"x"}', '{"patch":"x"}'), ("", "")],
)
def test_the_text_for_a_custom_tool(arguments: str, text: str) -> None:
    assert freeform(arguments) == text
