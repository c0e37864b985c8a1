"""`reasoning`: thinking is switched on or off in the words that hosts use, and read under one name."""

from __future__ import annotations

from dataclasses import dataclass

from moongate.chat.base import BaseExchange
from moongate.chat.contracts import Exchange
from moongate.payload import JsonObject
from moongate.transformers.choices import edit_choices
from moongate.transformers.options import Configured, is_flag, option


@dataclass(frozen=True, slots=True)
class ReasoningTransformer(Configured):
    """Request: `thinking` and `enable_thinking`, with the client's budget. Answer: `reasoning` → `reasoning_content`.

    >>> ReasoningTransformer().begin({"messages": [], "reasoning": {"max_tokens": 2000}}).request
    {'messages': [], 'thinking': {'type': 'enabled', 'budget_tokens': 2000}, 'enable_thinking': True}
    """

    enable: bool = option(True, is_flag, "false: thinking is switched off, whatever the client asks for")

    def begin(self, request: JsonObject) -> Exchange:
        on = self.enable and not _declined(request)
        thinking: JsonObject = {"type": "enabled" if on else "disabled"}
        if on and (budget := _budget(request)) is not None:
            thinking["budget_tokens"] = budget
        rest = {name: value for name, value in request.items() if name != "reasoning"}
        return ReasoningExchange({**rest, "thinking": thinking, "enable_thinking": on})


class ReasoningExchange(BaseExchange):
    """The thinking of an answer, under the name that most clients read."""

    def reply(self, body: JsonObject) -> JsonObject:
        return edit_choices(body, lambda choice, _: _renamed(choice, "message"))

    def chunk(self, payload: JsonObject) -> JsonObject:
        return edit_choices(payload, lambda choice, _: _renamed(choice, "delta"))


def _declined(request: JsonObject) -> bool:
    """Whether the client itself wants no thinking."""
    thinking, reasoning = request.get("thinking"), request.get("reasoning")
    return (
        (isinstance(thinking, dict) and thinking.get("type") == "disabled")
        or (isinstance(reasoning, dict) and (reasoning.get("enabled") is False or reasoning.get("effort") == "none"))
        or request.get("reasoning_effort") == "none"
        or request.get("enable_thinking") is False
    )


def _budget(request: JsonObject) -> int | None:
    for member, name in (("thinking", "budget_tokens"), ("reasoning", "max_tokens")):
        given = request.get(member)
        if isinstance(given, dict) and type(budget := given.get(name)) is int and budget > 0:
            return budget
    return None


def _renamed(choice: JsonObject, member: str) -> JsonObject:
    inner = choice.get(member)
    if not isinstance(inner, dict) or not isinstance(inner.get("reasoning"), str) or inner.get("reasoning_content"):
        return choice
    rest = {name: value for name, value in inner.items() if name != "reasoning"}
    return {**choice, member: {**rest, "reasoning_content": inner["reasoning"]}}
