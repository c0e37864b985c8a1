from __future__ import annotations

from typing import Any

import pytest

from moongate.dialects.openai_responses.calls import call_item, freeform, item_status
from moongate.dialects.openai_responses.declared_tools import CalledTool


@pytest.mark.parametrize(
    ("called", "arguments", "item"),
    [
        (CalledTool("function", "f"), '{"a":1}', {"type": "function_call", "name": "f", "arguments": '{"a":1}'}),
        (
            CalledTool("function", "close", "agents"),
            "{}",
            {"type": "function_call", "name": "close", "namespace": "agents", "arguments": "{}"},
        ),
        (CalledTool("custom", "apply"), '{"input":"x"}', {"type": "custom_tool_call", "name": "apply", "input": "x"}),
        (
            CalledTool("local_shell", "local_shell"),
            '{"command":["ls"],"timeout_ms":5}',
            {"type": "local_shell_call", "action": {"type": "exec", "command": ["ls"], "env": {}, "timeout_ms": 5}},
        ),
        (
            CalledTool("local_shell", "local_shell"),
            "oops",
            {"type": "local_shell_call", "action": {"type": "exec", "command": [], "env": {}}},
        ),
        (
            CalledTool("local_shell", "local_shell"),
            '{"command":"ls -l | wc"}',
            {
                "type": "local_shell_call",
                "action": {"type": "exec", "command": ["bash", "-lc", "ls -l | wc"], "env": {}},
            },
        ),
        (
            CalledTool("shell", "shell"),
            '{"commands":["ls","pwd"],"timeout_ms":5}',
            {
                "type": "shell_call",
                "action": {"commands": ["ls", "pwd"], "timeout_ms": 5, "max_output_length": None},
            },
        ),
        (
            CalledTool("apply_patch", "apply_patch"),
            '{"type":"create_file","path":"a.txt","diff":"+a"}',
            {"type": "apply_patch_call", "operation": {"type": "create_file", "path": "a.txt", "diff": "+a"}},
        ),
        (
            CalledTool("tool_search", "tool_search"),
            '{"query":"x"}',
            {"type": "tool_search_call", "execution": "client", "arguments": {"query": "x"}},
        ),
    ],
)
def test_every_kind_of_tool_has_its_item(called: CalledTool, arguments: str, item: dict[str, Any]) -> None:
    assert call_item(called, "i1", "c1", arguments) == {"id": "i1", "call_id": "c1", **item}


@pytest.mark.parametrize(
    ("arguments", "text"),
    [('{"input":"x"}', "x"), ("*** Begin Patch", "*** Begin Patch"), ('{"patch":"x"}', '{"patch":"x"}'), ("", "")],
)
def test_the_text_for_a_custom_tool(arguments: str, text: str) -> None:
    assert freeform(arguments) == text


def test_a_patch_that_was_cut_stays_in_progress() -> None:
    patch, function = CalledTool("apply_patch", "apply_patch"), CalledTool("function", "f")
    assert [item_status(patch, cut) for cut in (False, True)] == ["completed", "in_progress"]
    assert [item_status(function, cut) for cut in (False, True)] == ["completed", "incomplete"]
