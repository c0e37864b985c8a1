from __future__ import annotations

from typing import Any

import pytest

from moongate.chat.fast import KnownTools
from moongate.dialects.fronts import MESSAGES
from moongate.payload import dumps

READ = {"name": "read", "description": "Reads.", "input_schema": {"type": "object"}}
LATE = {**READ, "name": "late", "defer_loading": True}
SERVED = {"type": "web_search_20250305", "name": "web_search"}
USER: dict[str, Any] = {"role": "user", "content": [{"type": "text", "text": "Hi"}, "no block"]}
TEXT: dict[str, Any] = {"role": "user", "content": "Hi"}
GOOD: dict[str, Any] = {"role": "user", "content": [{"type": "text", "text": "Hi"}]}
ADDING = {
    "role": "user",
    "content": [
        {"type": "text", "text": "Hi"},
        {"type": "tool_addition", "tool": {"definition": {**READ, "name": "x"}}},
    ],
}


def outcome(body: dict[str, Any]) -> object:
    try:
        return dumps(MESSAGES.decode(body)), MESSAGES.left_out(body)
    except Exception as error:
        return repr(error)


@pytest.mark.parametrize("tools", [[READ], [READ, LATE], [READ, SERVED], [SERVED], [], [READ, 1], [{"name": 1}]])
@pytest.mark.parametrize("messages", [[TEXT], [GOOD, GOOD], [ADDING], [USER], [1], None])
@pytest.mark.parametrize("choice", [None, {"type": "tool", "name": "read"}, {"type": "tool", "name": "late"}])
def test_known_tools_are_translated_as_unknown_ones_are(tools: list[Any], messages: Any, choice: Any) -> None:
    known = KnownTools(dumps(tools), tools)
    rest = {"model": "m", "max_tokens": 1, "messages": messages, "tool_choice": choice}
    expected = outcome({**rest, "tools": tools})
    assert [outcome({**rest, "tools": known}) for _ in range(3)] == [expected] * 3


def test_they_are_translated_once() -> None:
    known = KnownTools(dumps([READ, SERVED]), [READ, SERVED])
    first, second = (MESSAGES.decode({"messages": [GOOD], "tools": known})["tools"] for _ in range(2))
    assert first is second
    assert isinstance(first, KnownTools)
    assert first.text == dumps(first)
    notes = MESSAGES.left_out({"messages": [GOOD], "tools": known})
    notes.clear()
    assert len(MESSAGES.left_out({"messages": [GOOD], "tools": known})) == 1
