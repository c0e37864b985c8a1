"""Entries of `tool_calls` as providers send them, and the writer that repairs them."""

from __future__ import annotations

from typing import Any

from tests.kimi.answering import begin, kinds, tool

from moongate.kimi.answer.calls import CallWriter
from moongate.kimi.answer.context import AnswerContext

Row = dict[str, Any]

RENAMED_TOOL: Row = {"messages": [{"role": "user", "content": "Go."}], "tools": [tool("21st.magic", "q")]}
RENAMED: Row = {"request": RENAMED_TOOL, "model": "kimi-k2-0905-preview", "base_url": "https://api.moonshot.ai/v1"}


def calls_of(options: Row | None = None, **more: Any) -> tuple[CallWriter, AnswerContext]:
    found = begin(options, **more).answer
    return CallWriter(found, 0), found


def delta(index: Any = 0, original_id: Any = None, name: Any = None, arguments: Any = None, **more: Any) -> Row:
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    entry: Row = {"function": function} if function else {}
    members = (("index", index), ("id", original_id))
    return {**{key: value for key, value in members if value is not None}, **entry, **more}


def whole(entries: list[Any], options: Row | None = None, **more: Any) -> tuple[list[Any], list[str]]:
    calls, answer = calls_of(options, **more)
    return calls.whole(entries), kinds(answer)
