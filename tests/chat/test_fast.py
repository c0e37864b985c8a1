from __future__ import annotations

from typing import Any

import pytest

from moongate.chat.fast import MAX_RESULTS, KnownTools, dumps_known, remembered, unshare_tools
from moongate.payload import dumps, dumps_member, loads

TOOLS = [{"type": "function", "function": {"name": "read"}}]


def known() -> KnownTools:
    return KnownTools(dumps(TOOLS), TOOLS)


def test_known_tools_are_a_list_like_any_other() -> None:
    assert known() == TOOLS
    assert dumps({"tools": known()}) == dumps({"tools": TOOLS})


def test_what_is_computed_of_known_tools_is_computed_once() -> None:
    asked: list[list[Any]] = []

    def count(tools: list[Any]) -> int:
        asked.append(tools)
        return len(tools)

    tools = known()
    assert [remembered(count, tools), remembered(count, tools)] == [1, 1]
    assert len(asked) == 1
    assert [remembered(count, TOOLS), remembered(count, TOOLS)] == [1, 1]
    assert len(asked) == 3


def test_results_are_bounded() -> None:
    tools = known()
    for at in range(MAX_RESULTS + 1):
        tools.remember(at, at)
    assert tools.result(0) is None
    assert tools.result(MAX_RESULTS) == MAX_RESULTS


def test_known_tools_are_written_once() -> None:
    tools = known()
    request = {"model": "m", "tools": tools, "stream": True}
    assert dumps_known(request) == dumps(request)
    tools.remember(dumps_member, b"[1]")
    assert loads(dumps_known(request)) == {"model": "m", "tools": [1], "stream": True}
    assert dumps_known({"tools": TOOLS}) == dumps({"tools": TOOLS})
    assert dumps_known({}) == b"{}"


@pytest.mark.parametrize("odd", ["\ud83d", 2**70, loads("[" * 300 + "]" * 300)])
def test_what_orjson_cannot_write_is_written_as_without_known_tools(odd: object) -> None:
    for request in ({"tools": known(), "a": odd}, {"tools": KnownTools(b"", [odd]), "a": "é"}):
        assert dumps_known(request) == dumps(request)
        assert dumps_known(request) == dumps(request)


def test_a_request_gets_tools_of_its_own() -> None:
    shared = known()
    request: dict[str, Any] = {"tools": shared}
    unshare_tools(request)
    request["tools"][0]["function"]["name"] = "changed"
    assert shared == [{"type": "function", "function": {"name": "read"}}]
    own: dict[str, Any] = {"tools": TOOLS}
    unshare_tools(own)
    assert own["tools"] is TOOLS
