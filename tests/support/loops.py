"""A three-turn tool loop through any front: ask, run the calls, send the results, until a final text comes."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from tests.support.fronts import Answer, Front, JsonObject, Tool
from tests.support.http import Reply, post

MAX_TURNS: Final = 8


def tool(name: str, key: str) -> Tool:
    return Tool(name, {"type": "object", "properties": {key: {"type": "string"}}, "required": [key]})


# Different keys, so that a call whose header names nothing can still be told by its arguments.
TOOLS: Final = (tool("get_weather", "city"), tool("get_time", "zone"), tool("read_page", "title"))
EXPECTED_CALLS: Final = (
    ("get_weather", {"city": "city 0"}),
    ("get_time", {"zone": "zone 1"}),
    ("read_page", {"title": "title 2"}),
)


@dataclass(slots=True)
class Loop:
    """What happened."""

    answers: list[Answer] = field(default_factory=list)
    refused: Reply | None = None

    @property
    def calls(self) -> list[tuple[str, Any]]:
        return [(call.name, json.loads(call.arguments)) for answer in self.answers for call in answer.calls]

    @property
    def final(self) -> str:
        return self.answers[-1].text


Change = Callable[[JsonObject, int], JsonObject]


def play(
    front: Front,
    root: str,
    model: str,
    *,
    stream: bool,
    key: str = "",
    tools: tuple[Tool, ...] = TOOLS,
    change: Change | None = None,
) -> Loop:
    """Play until the final text, a refusal or a failure. `change` may spoil each request (body, turn)."""
    loop = Loop()
    history = front.user("Use the tools, then tell me what you saw.")
    number = 0
    for turn in range(MAX_TURNS):
        body = front.ask(model, history, tools, stream=stream)
        reply = post(root + front.path, change(body, turn) if change else body, key=key)
        if reply.status != 200:
            loop.refused = reply
            return loop
        answer = front.read(reply.body, stream=stream)
        loop.answers.append(answer)
        if answer.error or not answer.calls:
            return loop
        results = [(call.id, f"result {number + place}") for place, call in enumerate(answer.calls)]
        number += len(results)
        history = [*history, *answer.said, *front.results(results)]
    raise AssertionError(f"no final text after {MAX_TURNS} turns")


def assert_good(loop: Loop, expected: tuple[tuple[str, Any], ...] = EXPECTED_CALLS) -> None:
    """Three calls with the right arguments, and a final text that has seen their results in order."""
    assert loop.refused is None, loop.refused
    assert [answer.error for answer in loop.answers] == [None] * 3
    assert [len(answer.calls) for answer in loop.answers] == [1, 2, 0]
    assert loop.calls == list(expected)
    assert all(answer.ended and not answer.late for answer in loop.answers)
    said = loop.final
    assert said.startswith("Done, 3 results: "), said
    seen = [part.rpartition(" -> ")[2] for part in said.removeprefix("Done, 3 results: ").split("; ")]
    assert seen == ["result 0", "result 1", "result 2"], said
    for answer in loop.answers:
        assert "<|" not in answer.text + answer.reasoning, "no markup is left over"
        assert "<think>" not in answer.text
