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


@dataclass(frozen=True, slots=True)
class Offer:
    """What was offered, under the names that the client knows."""

    tools: Mapping[str, ToolKeys]
    calls_allowed: bool = True  # False: no tools and no calls in the history, or tool_choice "none"

    def has(self, name: str) -> bool:
        return name in self.tools

    def only_fit(self, keys: Collection[str]) -> str | None:
        """The one offered tool that takes these argument keys, or None if none or several do."""
        fitting = [name for name, tool in self.tools.items() if tool.fits(keys)]
        return fitting[0] if len(fitting) == 1 else None
