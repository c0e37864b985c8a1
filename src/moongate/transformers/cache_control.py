"""`cleancache`: `cache_control`, which some hosts refuse, is taken out of the request."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import is_
from typing import Any, Final

from moongate.chat.base import BaseExchange
from moongate.chat.contracts import Exchange
from moongate.payload import JsonObject
from moongate.transformers.options import Configured

_MEMBER: Final = "cache_control"


@dataclass(frozen=True, slots=True)
class CleanCacheTransformer(Configured):
    """Of messages, of the parts of their content, of tools and their functions. Schemas and arguments stay as they are.

    >>> message = {"role": "user", "content": [{"type": "text", "text": "Hi", "cache_control": {"type": "ephemeral"}}]}
    >>> CleanCacheTransformer().begin({"messages": [message]}).request
    {'messages': [{'role': 'user', 'content': [{'type': 'text', 'text': 'Hi'}]}]}
    """

    def begin(self, request: JsonObject) -> Exchange:
        request = _without(request)
        request = _with_list(request, "messages", lambda message: _with_list(_without(message), "content", _without))
        return BaseExchange(_with_list(request, "tools", _clean_tool))


def _clean_tool(tool: JsonObject) -> JsonObject:
    tool = _without(tool)
    function = tool.get("function")
    if not isinstance(function, dict) or _MEMBER not in function:
        return tool
    return {**tool, "function": _without(function)}


def _without(value: JsonObject) -> JsonObject:
    return {name: each for name, each in value.items() if name != _MEMBER} if _MEMBER in value else value


def _with_list(owner: JsonObject, name: str, clean: Callable[[JsonObject], JsonObject]) -> JsonObject:
    """`owner` with the objects of one list cleaned; the same object if they were clean."""
    given: Any = owner.get(name)
    if not isinstance(given, list):
        return owner
    cleaned = [clean(each) if isinstance(each, dict) else each for each in given]
    return owner if all(map(is_, cleaned, given)) else {**owner, name: cleaned}
