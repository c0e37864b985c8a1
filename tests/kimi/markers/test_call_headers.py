"""Whom a header names."""

from __future__ import annotations

import pytest

from moongate.kimi.markers.call_headers import Header, HeaderCache, read_header
from moongate.kimi.tool_set import ToolKeys, ToolSet

NAMES = (
    "bash",
    "read_file",
    "fs.read",
    "db:query",
    "step_2",
    "step2",
    "functions.x",
    "list-tasks",
    "查询",
    "call_taxi",
)
TOOL_SET = ToolSet(dict.fromkeys(NAMES, ToolKeys()))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("functions.bash:0", "bash"),
        (" \n functions.bash:0\t", "bash"),
        ("bash:12", "bash"),
        ("bash", "bash"),
        ("functions.bash", "bash"),
        ("functions.fs.read:3", "fs.read"),
        ("functions.db:query:2", "db:query"),
        ("db:query", "db:query"),
        ("functions.functions.x:0", "functions.x"),
        ("functions.x:0", "x"),
        ("functions.list-tasks:1", "list-tasks"),
        ("functions.查询:0", "查询"),
        ("functions_read_file_4", "read_file"),
        ("functions_step_2_1", "step_2"),
        ("functions_read_file_4:1", "read_file"),
        ("functionsread_file4", "read_file"),
        ("functionsstep21", "step2"),
        ("call_taxi", "call_taxi"),
        ("functions.call_taxi:0", "call_taxi"),
        ("warp:0", "warp"),
        ("functions.warp:1234567890", "warp"),
        ("functions_warp_1:2", "functions_warp_1"),
        ("functionsbash:7", "functionsbash"),
    ],
)
def test_a_header_that_names_a_tool(text: str, name: str) -> None:
    assert read_header(text, TOOL_SET) == Header(text.strip(), name)


@pytest.mark.parametrize(
    "text",
    [
        *("", "  ", "warp", "functions.warp", "functions.warp.0", "no name", ":0", "functions.:1", "bash:", "bash:x"),
        *("bash:٣", "functions_warp_1", "functions12", "functionsbash", "functions_bash", "functions__1", "0x1", "²"),
    ],
)
def test_a_header_without_a_tool(text: str) -> None:
    assert read_header(text, TOOL_SET) == Header(text.strip())


@pytest.mark.parametrize("text", ["0", " 17 ", "call_8c1d", "call_", "functions.3"])
def test_a_header_whose_tool_is_found_by_argument_keys(text: str) -> None:
    assert read_header(text, TOOL_SET) == Header(text.strip(), by_keys=True)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("functions.bash:0", "bash"),
        (" functions.bash:0 ", "bash"),
        ("functions.gone:0", "gone"),
        ("functions.a b:1", "a b"),
        ("functions.bash:٣", ""),
    ],
)
def test_the_shortcut_for_standard_headers_gives_the_same_result(text: str, name: str) -> None:
    tool_set = ToolSet({"bash": ToolKeys()})
    assert read_header(text, tool_set) == Header(text.strip(), name)


@pytest.mark.parametrize(
    "head", ["functions.bash", "bash", " bash", "functions_bash_1", "warp", "", "functions.db:query", "call_7", "x:1"]
)
def test_the_cache_gives_the_same_result(head: str) -> None:
    headers = HeaderCache(TOOL_SET)
    for tail in (":0", ":7", "", ":7 ", ":٣", ":x", ":", ":8", ""):
        text = head + tail
        assert headers.read(text) == read_header(text, TOOL_SET)
