from __future__ import annotations

from typing import Any

from moongate.sim.offered_tools import OfferedTool, chosen, named_tool, offered, ranked


def tool(name: str) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": {}}}


def test_tools_of_messages_count_and_harmless_ones_are_preferred() -> None:
    request = {
        "messages": [{"role": "system", "tools": [tool("add"), tool("sub")]}, "x", {"tools": 3}],
        "tools": [tool("mul"), {"type": "x"}, 3, {"type": "function"}, {"type": "function", "function": {"name": 1}}],
    }
    assert [(each.name, each.dynamic) for each in offered(request)] == [("mul", False), ("add", True), ("sub", True)]
    assert [each.name for each in offered({"tools": [tool("add"), tool("Bash")]})] == ["Bash"]


def test_custom_tools_are_offered_too() -> None:
    assert offered({"tools": [{"type": "custom", "custom": {"name": "patch"}}]}) == [
        OfferedTool("patch", None, custom=True)
    ]


def test_a_tool_that_fits_the_prompt_comes_first_then_those_of_messages() -> None:
    tools = [OfferedTool("quote_share"), OfferedTool("lookup_tide", dynamic=True), OfferedTool("list_ferries")]
    names = [each.name for each in ranked(tools, "When is high tide?")]
    assert names == ["lookup_tide", "quote_share", "list_ferries"]
    assert ranked(tools, "?")[0].name == "lookup_tide"
    assert ranked(tools, "Ferries, please")[0].name == "list_ferries"


def test_a_named_choice() -> None:
    tools = [OfferedTool("add"), OfferedTool("sub")]
    assert chosen(tools, {"type": "function", "function": {"name": "sub"}}) == [tools[1]]
    assert chosen(tools, {"type": "function", "function": {"name": "gone"}}) == tools
    assert named_tool({"type": "custom", "custom": {"name": "patch"}}) == "patch"
    assert [named_tool(each) for each in ("required", None, {"function": 3}, {})] == [None] * 4
