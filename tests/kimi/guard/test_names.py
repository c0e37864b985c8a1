"""Names that are nearly right."""

from __future__ import annotations

import pytest

from moongate.kimi.guard.names import by_property_key, by_tool_key, near_option, near_tool, property_key

TOOLS = ["read_file", "write.file", "Bash", "search", "sear_ch"]


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("Read-File", "read_file"),
        ("functions.read_file", "read_file"),
        ("Functions.ReadFile", "read_file"),
        ("writeFile", "write.file"),
        ("BASH", "Bash"),
        ("SEARCH", None),
        ("read_files", None),
        ("", None),
    ],
)
def test_tools(name: str, near: str | None) -> None:
    assert near_tool(name, by_tool_key(TOOLS)) == near


def test_properties_keep_their_dots() -> None:
    assert property_key("file_path") == property_key("file-Path") == "filepath"
    assert property_key("file.path") != property_key("filePath")


def test_properties_by_what_they_share() -> None:
    assert by_property_key(["file_path", "b", "filePath"]) == {"filepath": ["file_path", "filePath"], "b": ["b"]}


def test_options_differ_in_case_and_blanks_only() -> None:
    assert near_option(" In Progress", ["in progress", "done", 7]) == "in progress"
    assert near_option("inprogress", ["in progress"]) == "in progress"
    assert near_option("in_progress", ["in progress"]) is None
    assert near_option("A", ["a", "a "]) is None
