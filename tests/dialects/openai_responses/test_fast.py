from __future__ import annotations

from typing import Any

import pytest

from moongate.chat.fast import KnownTools
from moongate.dialects.fronts import RESPONSES
from moongate.payload import dumps

READ = {"type": "function", "name": "read", "parameters": {"type": "object"}}
LATE = {**READ, "name": "late", "defer_loading": True}
SEARCH = {"type": "tool_search", "execution": "client"}
SERVED = {"type": "web_search"}
CALL = {"type": "function_call", "call_id": "c", "name": "late", "arguments": "{}"}
MORE = {"type": "additional_tools", "tools": [{**READ, "name": "more"}]}
ASKED = {"role": "user", "content": "Hi"}


def outcome(body: dict[str, Any]) -> object:
    try:
        return dumps(RESPONSES.decode(body)), RESPONSES.left_out(body)
    except Exception as error:
        return repr(error)


@pytest.mark.parametrize("tools", [[READ], [READ, LATE, SEARCH], [READ, SERVED], [], [READ, 1], [{"type": "function"}]])
@pytest.mark.parametrize("given", ["Hi", [ASKED], [ASKED, CALL], [ASKED, MORE], [1], None])
@pytest.mark.parametrize("choice", [None, "required", {"type": "function", "name": "read"}])
def test_known_tools_are_translated_as_unknown_ones_are(tools: list[Any], given: Any, choice: Any) -> None:
    known = KnownTools(dumps(tools), tools)
    rest = {"model": "m", "input": given, "tool_choice": choice}
    expected = outcome({**rest, "tools": tools})
    assert [outcome({**rest, "tools": known}) for _ in range(3)] == [expected] * 3


def test_they_are_translated_once() -> None:
    known = KnownTools(dumps([READ, SERVED]), [READ, SERVED])
    first, second = (RESPONSES.decode({"input": "Hi", "tools": known})["tools"] for _ in range(2))
    assert first is second
    assert isinstance(first, KnownTools)
    assert first.text == dumps(first)
    notes = RESPONSES.left_out({"input": "Hi", "tools": known})
    notes.clear()
    assert len(RESPONSES.left_out({"input": "Hi", "tools": known})) == 1
