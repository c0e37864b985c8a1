"""Tools that many requests bring, read once and shared by all of them, with what was made of them so far.

An agent sends the same tools with every request. What a rule makes of them depends on them alone, so it is computed
once (`remembered`). Nobody changes shared tools in place; a transformer that might gets a copy (`unshare_tools`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

from moongate.payload import JsonObject, dumps, dumps_member, dumps_with, loads

MAX_RESULTS: Final = 64  # of one list of tools; a transformer needs a few

Result = TypeVar("Result")


class KnownTools(list[Any]):
    """The tools of a request, as a list like any other."""

    __slots__ = ("_results", "text")

    def __init__(self, text: bytes, tools: Sequence[object]) -> None:
        super().__init__(tools)
        self.text = text  # their JSON
        self._results: dict[object, Any] = {}

    def result(self, key: object) -> Any:
        """What was remembered under this key, or None."""
        return self._results.get(key)

    def remember(self, key: object, result: object) -> None:
        """Keep a result, which must not be None and must not be changed."""
        if len(self._results) >= MAX_RESULTS:
            self._results.clear()
        self._results[key] = result


def remembered(compute: Callable[[list[Any]], Result], tools: list[Any]) -> Result:
    """`compute(tools)`, a pure function whose result is never None: computed once for tools that are known."""
    if not isinstance(tools, KnownTools):
        return compute(tools)
    found: Result | None = tools.result(compute)
    if found is None:
        found = compute(tools)
        tools.remember(compute, found)
    return found


def dumps_known(value: JsonObject) -> bytes:
    """`dumps` of an object with `tools`: those that are known are written once."""
    tools = value.get("tools")
    return (
        dumps_with(value, "tools", remembered(dumps_member, tools)) if isinstance(tools, KnownTools) else dumps(value)
    )


def unshare_tools(request: JsonObject) -> None:
    """Give a request that shares its tools a copy of its own. Changes the request itself, which nobody shares."""
    tools = request.get("tools")
    if isinstance(tools, KnownTools):
        request["tools"] = loads(tools.text)
