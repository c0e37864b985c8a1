"""Which of Anthropic's tools are offered, and from which message on.

A tool with `defer_loading` is offered from the message on that loads it with a `tool_reference` block: the client runs
the search, and answers it with such blocks. A search that runs on Anthropic's servers does not exist here: with one, or
if all tools are deferred, they are offered from the beginning.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import Final

from moongate.dialects.anthropic_messages.tools import ADDITION, chat_tool, declared_tools, is_predefined
from moongate.errors import BadRequest
from moongate.payload import JsonObject

MAX_PREDEFINED: Final = 128  # tools whose schema is written here: it is twenty times as long as what names them

_SERVER_SEARCH: Final = "tool_search_tool_"  # followed by the kind of search and a date


class LoadedTools:
    """Chat tools: those of the whole conversation, and those that messages load."""

    __slots__ = ("loaded", "tools")

    def __init__(self) -> None:
        self.tools: list[JsonObject] = []
        self.loaded: dict[int, list[JsonObject]] = {}  # by the index of the message that loads them

    @property
    def names(self) -> set[str]:
        lists = (self.tools, *self.loaded.values())
        return {tool["function"]["name"] for tools in lists for tool in tools}


def offered_tools(body: JsonObject) -> LoadedTools:
    """The tools that can be offered, the first of each name. Raises BadRequest with the path of an invalid one."""
    known: dict[str, JsonObject] = {}
    at_once: set[str] = set()
    late: set[str] = set()  # declared inside messages
    added: dict[int, list[str]] = {}
    searched_on_server = False
    predefined = 0
    for path, tool, message in declared_tools(body):
        mapped = chat_tool(tool, path)
        if mapped is None:
            searched_on_server = searched_on_server or str(tool.get("type")).startswith(_SERVER_SEARCH)
            continue
        predefined += is_predefined(tool)
        if predefined > MAX_PREDEFINED:
            raise BadRequest(f"there are more than {MAX_PREDEFINED} tools without a schema", path=path)
        name = mapped["function"]["name"]
        if message is not None:
            added.setdefault(message, []).append(name)
        if name not in known:
            known[name] = mapped
            if message is not None:
                late.add(name)
            elif tool.get("defer_loading") is not True:
                at_once.add(name)
    waiting = late if searched_on_server or not at_once else known.keys() - at_once
    return _offer(body, known, waiting, added)


def _offer(
    body: JsonObject, known: dict[str, JsonObject], waiting: Set[str], added: dict[int, list[str]]
) -> LoadedTools:
    """Each tool at the top, or at the message that loads it."""
    offered = LoadedTools()
    loaded_at: dict[str, int] = {}
    choice = body.get("tool_choice")
    forced = choice.get("name") if isinstance(choice, dict) else None
    for index, content in _contents(body) if waiting else ():
        for name in (*added.get(index, ()), *_loaded_names(content)):
            if name in waiting:
                loaded_at.setdefault(name, index)
    for name, tool in known.items():
        if name in loaded_at:
            offered.loaded.setdefault(loaded_at[name], []).append(tool)
        elif name not in waiting or name == forced:
            offered.tools.append(tool)
    return offered


def _contents(body: JsonObject) -> Iterator[tuple[int, list[JsonObject]]]:
    """The blocks of each message. What is invalid is refused elsewhere."""
    messages = body.get("messages")
    for index, message in enumerate(messages if isinstance(messages, list) else ()):
        content = message.get("content") if isinstance(message, dict) else None
        if isinstance(content, list):
            yield index, [block for block in content if isinstance(block, dict)]


def _loaded_names(content: list[JsonObject]) -> Iterator[str]:
    """The names in `tool_reference` blocks: in a message, in results, in what a search has found, in additions.

    A tool that is called counts as loaded there: its loading was cut off, or the model knew its name from elsewhere.
    """
    for block in content:
        kind = block.get("type")
        inner: object = [block]
        if kind == "tool_use":
            yield str(block.get("name"))
        elif kind == "tool_result":
            inner = block.get("content")
        elif kind == ADDITION:
            inner = [block.get("tool")]
        elif kind == "tool_search_tool_result":
            found = block.get("content")
            inner = found.get("tool_references") if isinstance(found, dict) else None
        for each in inner if isinstance(inner, list) else ():
            if isinstance(each, dict) and each.get("type") == "tool_reference":
                name = each.get("tool_name") or each.get("name")
                if isinstance(name, str):
                    yield name
