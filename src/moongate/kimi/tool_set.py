"""The tools of one request, against which the model's calls are checked (section 5.4)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

_NO_PROPERTIES: Final[Mapping[str, Mapping[str, str]]] = {}


@dataclass(frozen=True, slots=True)
class ToolKeys:
    """The argument keys that a tool accepts and requires."""

    properties: frozenset[str] = frozenset()
    required: frozenset[str] = frozenset()

    def accepts(self, keys: Collection[str]) -> bool:
        return self.properties.issuperset(keys) and self.required.issubset(keys)


class ToolSet:
    """The offered tools by name."""

    __slots__ = ("_names", "_properties", "_tools", "call_required", "calls_allowed", "id_prefix", "tools")

    def __init__(
        self,
        tools: Mapping[str, ToolKeys],
        calls_allowed: bool = True,
        id_prefix: str = "functions",
        call_required: bool = False,
        properties: Mapping[str, Mapping[str, str]] = _NO_PROPERTIES,
    ) -> None:
        self.tools = tools
        self.id_prefix = id_prefix  # of the ids that the model sees, and writes as headers
        self.call_required = call_required  # the client wants a call, whatever the host lets it ask for
        self.calls_allowed = calls_allowed  # False: no tools and no calls in the history, or tool_choice "none"
        self._properties = properties  # by tool: the names under which properties were sent → those in `tools`
        self._names: frozenset[str] | None = None  # both are built on first use, which is rare
        self._tools: list[tuple[str, ToolKeys]] | None = None

    def has(self, name: str) -> bool:
        if self._names is None:
            self._names = frozenset(self.tools)
        return name in self._names

    def only_match(self, keys: Collection[str]) -> str | None:
        """The one offered tool that accepts these argument keys, or None if none or several do."""
        if self._tools is None:
            self._tools = list(self.tools.items())
        matches = [name for name, tool in self._tools if tool.accepts(self._original(name, keys))]
        return matches[0] if len(matches) == 1 else None

    def _original(self, tool: str, keys: Collection[str]) -> Collection[str]:
        names = self._properties.get(tool)
        return keys if names is None else {names.get(key, key) for key in keys}
