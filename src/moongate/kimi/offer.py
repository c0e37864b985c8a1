"""The tools of one request, as the model's calls are judged against them (section 5.4)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ToolKeys:
    """The argument keys that a tool takes and needs."""

    properties: frozenset[str] = frozenset()
    required: frozenset[str] = frozenset()

    def fits(self, keys: Collection[str]) -> bool:
        return self.properties.issuperset(keys) and self.required.issubset(keys)


class Offer:
    """What was offered, under the names that the client knows."""

    __slots__ = ("_fits", "_names", "calls_allowed", "tools")

    def __init__(self, tools: Mapping[str, ToolKeys], calls_allowed: bool = True) -> None:
        self.tools = tools
        self.calls_allowed = calls_allowed  # False: no tools and no calls in the history, or tool_choice "none"
        self._names: frozenset[str] | None = None  # both are made when somebody asks, which is rare
        self._fits: list[tuple[str, ToolKeys]] | None = None

    def has(self, name: str) -> bool:
        if self._names is None:
            self._names = frozenset(self.tools)
        return name in self._names

    def only_fit(self, keys: Collection[str]) -> str | None:
        """The one offered tool that takes these argument keys, or None if none or several do."""
        if self._fits is None:
            self._fits = list(self.tools.items())
        fitting = [name for name, tool in self._fits if tool.fits(keys)]
        return fitting[0] if len(fitting) == 1 else None
