"""The tools that a request offers to the simulated model, those declared in messages included."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from moongate.payload import JsonObject

# Shell tools of coding agents, for which KNOWN has harmless commands. If one is offered, only these are called.
HARMLESS: Final = (
    *("Bash", "bash", "shell", "exec_command", "shell_command", "run_shell_command", "run_command"),
    "run_commands",
    *("execute_command", "Shell"),
)
_WORD: Final = re.compile(r"[a-z]{4,}|[A-Z][a-z]{3,}")


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A tool that the model may call."""

    name: str
    parameters: object = None
    custom: bool = False  # called with a text instead of arguments
    dynamic: bool = False  # declared in a message


def offered(request: JsonObject) -> list[OfferedTool]:
    """The tools that may be called. Shell tools only, if there are any."""
    tools = [*_tools(request.get("tools"), dynamic=False)]
    for message in request.get("messages") or []:
        if isinstance(message, dict):
            tools += _tools(message.get("tools"), dynamic=True)
    return [tool for tool in tools if tool.name in HARMLESS] or tools


def ranked(tools: list[OfferedTool], text: str) -> list[OfferedTool]:
    """First the tools whose name shares a word with the text, then those declared in messages, then the others."""
    asked = {word.lower() for word in _WORD.findall(text)}

    def rank(tool: OfferedTool) -> tuple[bool, bool]:
        return not asked & {word.lower() for word in _WORD.findall(tool.name)}, not tool.dynamic

    return sorted(tools, key=rank)


def chosen(tools: list[OfferedTool], choice: object) -> list[OfferedTool]:
    """The tool that `tool_choice` names; all of them if it names none of these."""
    name = named_tool(choice)
    return [tool for tool in tools if tool.name == name] or tools


def named_tool(choice: object) -> str | None:
    """The name in a `tool_choice` that forces one tool."""
    for kind in ("function", "custom"):
        inner = choice.get(kind) if isinstance(choice, dict) else None
        if isinstance(inner, dict) and isinstance(inner.get("name"), str):
            return str(inner["name"])
    return None


def _tools(tools: object, *, dynamic: bool) -> Iterator[OfferedTool]:
    for tool in tools if isinstance(tools, list) else []:
        if not isinstance(tool, dict):
            continue
        kind = tool.get("type", "function")
        inner = tool.get(kind) if kind in ("function", "custom") else None
        if isinstance(inner, dict) and isinstance(inner.get("name"), str):
            yield OfferedTool(inner["name"], inner.get("parameters"), kind == "custom", dynamic)
