from __future__ import annotations

from typing import Any

import pytest

from moongate.dialects.openai_responses.client_tools import (
    PREDEFINED,
    Kind,
    call_arguments,
    call_members,
    patch_result,
    predefined_function,
    runs_on_client,
    search_function,
)
from moongate.payload import JsonObject, dumps_text


@pytest.mark.parametrize(
    ("tool", "kind"),
    [
        ({"type": "local_shell"}, "local_shell"),
        ({"type": "apply_patch"}, "apply_patch"),
        ({"type": "shell"}, "shell"),
        ({"type": "shell", "environment": {"type": "local", "skills": []}}, "shell"),
        ({"type": "shell", "environment": {"type": "container_auto"}}, None),
        ({"type": "tool_search", "execution": "client"}, "tool_search"),
        ({"type": "tool_search", "execution": "server"}, None),
        ({"type": "tool_search"}, None),
        ({"type": "web_search"}, None),
        ({"type": ["odd"]}, None),
    ],
)
def test_what_the_client_runs(tool: JsonObject, kind: str | None) -> None:
    assert runs_on_client(tool) == kind


@pytest.mark.parametrize("kind", PREDEFINED)
def test_predefined_tools_have_a_description_and_a_schema(kind: Kind) -> None:
    function = predefined_function(kind, "chosen")
    assert function["name"] == "chosen"
    assert function["description"]
    assert set(function["parameters"]["required"]) <= set(function["parameters"]["properties"])


def test_the_search_of_the_client() -> None:
    own = {"description": "Finds.", "parameters": {"type": "object"}}
    assert search_function(own, "s") == {"name": "s", **own}
    assert search_function({"description": 5, "parameters": None}, "s")["description"] == "Finds and loads tools."


@pytest.mark.parametrize(
    ("arguments", "commands"),
    [
        ({"commands": ["ls", "pwd"]}, ["ls", "pwd"]),
        ({"commands": "ls"}, ["ls"]),
        ({"commands": ""}, []),
        ({"command": "ls -l"}, ["ls -l"]),
        ({"commands": ["ls", 5]}, ["ls", "5"]),
        ({"commands": {"a": 1}}, []),
        ({}, []),
    ],
)
def test_the_commands_of_a_shell_call(arguments: JsonObject, commands: list[str]) -> None:
    action = call_members("shell", dumps_text(arguments))["action"]
    assert action == {"commands": commands, "timeout_ms": None, "max_output_length": None}


def test_limits_of_a_shell_call_are_numbers_or_nothing() -> None:
    given = '{"commands":["ls"],"timeout_ms":"soon","max_output_length":9,"odd":1}'
    assert call_members("shell", given)["action"] == {"commands": ["ls"], "timeout_ms": None, "max_output_length": 9}


@pytest.mark.parametrize(
    ("command", "expected"),
    [(["ls", "-l"], ["ls", "-l"]), ("ls -l", ["bash", "-lc", "ls -l"]), ("", []), (None, []), (5, [])],
)
def test_the_command_of_the_local_shell(command: Any, expected: list[str]) -> None:
    action = call_members("local_shell", dumps_text({"command": command, "working_directory": "/w"}))["action"]
    assert action == {"type": "exec", "env": {}, "command": expected, "working_directory": "/w"}


def test_members_of_another_type_are_left_out() -> None:
    given = {"command": ["ls"], "env": {"A": "b", "C": 5}, "timeout_ms": "soon", "working_directory": 5, "user": "me"}
    action = call_members("local_shell", dumps_text({**given, "odd": 1}))["action"]
    assert action == {"type": "exec", "command": ["ls"], "env": {"A": "b"}, "user": "me"}
    for odd in ("x", None, [1]):
        assert call_members("local_shell", dumps_text({"command": [], "env": odd}))["action"]["env"] == {}


@pytest.mark.parametrize(
    ("arguments", "operation"),
    [
        ('{"type":"delete_file","path":"a","diff":"x"}', {"type": "delete_file", "path": "a"}),
        (
            '{"operation":{"type":"update_file","path":"a","diff":"@@"}}',
            {"type": "update_file", "path": "a", "diff": "@@"},
        ),
        ('{"path":"a"}', {"type": "update_file", "path": "a", "diff": ""}),
        ('{"type":"move","path":5,"diff":["x"]}', {"type": "update_file", "path": "", "diff": ""}),
        ('{"type":["delete_file"]}', {"type": "update_file", "path": "", "diff": ""}),
        ("*** Begin Patch", {"type": "update_file", "path": "", "diff": "*** Begin Patch"}),
    ],
)
def test_the_operation_of_a_patch(arguments: str, operation: JsonObject) -> None:
    assert call_members("apply_patch", arguments) == {"operation": operation}


@pytest.mark.parametrize(
    ("kind", "arguments"),
    [
        ("shell", {"commands": ["ls"], "timeout_ms": 5}),
        ("apply_patch", {"type": "create_file", "path": "a", "diff": "+x"}),
        ("apply_patch", {"type": "delete_file", "path": "a"}),
        ("tool_search", {"query": "x"}),
        ("local_shell", {"command": ["ls"], "env": {}}),
    ],
)
def test_a_call_that_comes_back_has_its_arguments_again(kind: Kind, arguments: JsonObject) -> None:
    assert call_arguments(call_members(kind, dumps_text(arguments)), kind) == arguments


@pytest.mark.parametrize("kind", ["shell", "local_shell", "apply_patch", "tool_search"])
def test_calls_without_arguments(kind: Kind) -> None:
    assert call_arguments({}, kind) == {}


@pytest.mark.parametrize(
    ("item", "text"),
    [
        ({"status": "completed"}, "completed"),
        ({"status": "failed", "output": "no such file"}, "failed\nno such file"),
        ({"output": "done"}, "done"),
        ({"status": 5, "output": None}, ""),
    ],
)
def test_the_result_of_a_patch(item: JsonObject, text: str) -> None:
    assert patch_result(item) == text
