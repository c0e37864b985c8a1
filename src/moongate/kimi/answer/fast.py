"""A whole answer that no rule can change is recognised before any state is made for it."""

from __future__ import annotations

from moongate.kimi.answer.context import AnswerContext
from moongate.payload import JsonObject


def needs_no_repair(answer: AnswerContext, choice: JsonObject, message: JsonObject) -> bool:
    """Is it text without calls, without anything that may be a marker, that ended with `stop`? Most answers are."""
    content = message.get("content")
    if choice.get("finish_reason") != "stop" or message.get("tool_calls") or answer.tool_set.call_required:
        return False
    if not content or type(content) is not str or answer.may_hold_marker(content):
        return False
    for text in (message.get("reasoning_content"), message.get("reasoning")):
        if text and (type(text) is not str or answer.may_hold_marker(text)):
            return False
    return True
