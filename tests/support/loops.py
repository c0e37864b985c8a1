"""A tool loop through any front: send a request, run the calls, send the results, until a final text comes."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from tests.support.front import Front, JsonObject, ReadAnswer, Tool
from tests.support.http import Reply, post

MAX_REQUESTS: Final = 8


def tool(name: str, key: str) -> Tool:
    return Tool(name, {"type": "object", "properties": {key: {"type": "string"}}, "required": [key]})


# Different keys, so that a call without a tool name can still be identified by its arguments.
TOOLS: Final = (tool("get_weather", "city"), tool("get_time", "zone"), tool("read_page", "title"))
EXPECTED_CALLS: Final = (
    ("get_weather", {"city": "city 0"}),
    ("get_time", {"zone": "zone 1"}),
    ("read_page", {"title": "title 2"}),
)


@dataclass(slots=True)
class Loop:
    """The answers of a tool loop, and the error response that ended it."""

    answers: list[ReadAnswer] = field(default_factory=list)
    refused: Reply | None = None

    @property
    def calls(self) -> list[tuple[str, Any]]:
        return [(call.name, json.loads(call.arguments)) for answer in self.answers for call in answer.calls]

    @property
    def final(self) -> str:
        return self.answers[-1].text


Change = Callable[[JsonObject, int], JsonObject]


def run_loop(
    front: Front,
    root: str,
    model: str,
    *,
    stream: bool,
    key: str = "",
    tools: tuple[Tool, ...] = TOOLS,
    change: Change | None = None,
) -> Loop:
    """Run until a final text, an error response or a failed answer. `change` may alter each request (body, number)."""
    loop = Loop()
    history = front.user("Use the tools, then tell me what you saw.")
    number = 0
    for count in range(MAX_REQUESTS):
        body = front.request(model, history, tools, stream=stream)
        reply = post(root + front.path, change(body, count) if change else body, key=key)
        if reply.status != 200:
            loop.refused = reply
            return loop
        answer = front.read(reply.body, stream=stream)
        loop.answers.append(answer)
        if answer.error or not answer.calls:
            return loop
        results = [(call.id, f"result {number + position}") for position, call in enumerate(answer.calls)]
        number += len(results)
        history = [*history, *answer.history, *front.results(results)]
    raise AssertionError(f"no final text after {MAX_REQUESTS} requests")


def assert_good(loop: Loop, expected: tuple[tuple[str, Any], ...] = EXPECTED_CALLS) -> None:
    """Three calls with the right arguments, and a final text that lists their results in order."""
    assert loop.refused is None, loop.refused
    assert [answer.error for answer in loop.answers] == [None] * 3
    assert [len(answer.calls) for answer in loop.answers] == [1, 2, 0]
    assert loop.calls == list(expected)
    assert all(answer.ended and not answer.late for answer in loop.answers)
    text = loop.final
    assert text.startswith("Done, 3 results: "), text
    seen = [part.rpartition(" -> ")[2] for part in text.removeprefix("Done, 3 results: ").split("; ")]
    assert seen == ["result 0", "result 1", "result 2"], text
    for answer in loop.answers:
        assert "<|" not in answer.text + answer.reasoning, "no markup is left over"
        assert "<think>" not in answer.text
