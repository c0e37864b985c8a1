"""The calls and results of a message history, and which belongs to which (sections 1 and 3.4).

Reading changes nothing. It refuses what no rule could work with, and leaves the rest to the provider's judgement.
"""

from __future__ import annotations

from typing import Any, Final

from moongate.errors import BadRequest
from moongate.payload import JsonObject

NO_OUTPUT: Final = "(no output)"  # what a call without a result is answered with


class PastCall:
    """A call in the history: what the client wrote, and what it becomes."""

    __slots__ = ("body", "final", "given", "name", "result", "turn", "twin")

    def __init__(self, body: JsonObject, turn: Turn) -> None:
        given = body.get("id")
        self.body = body
        self.turn = turn
        self.given: str = given if isinstance(given, str) else ""
        self.name: str = body["function"]["name"]
        self.final = self.given
        self.result: Result | None = None  # the one that counts
        self.twin: PastCall | None = None  # the next call of the same message with the same id


class Turn:
    """An assistant message with calls."""

    __slots__ = ("at", "calls", "message", "unanswered_from")

    def __init__(self, at: int, message: JsonObject) -> None:
        self.at = at
        self.message = message
        self.calls: list[PastCall] = [PastCall(body, self) for body in message["tool_calls"]]
        self.unanswered_from = 0  # calls before this one are answered

    def first_unanswered(self) -> PastCall | None:
        for position in range(self.unanswered_from, len(self.calls)):
            if self.calls[position].result is None:
                self.unanswered_from = position
                return self.calls[position]
        self.unanswered_from = len(self.calls)
        return None


class Result:
    """A tool message, and the call that it belongs to."""

    __slots__ = ("at", "call", "message")

    def __init__(self, at: int, message: JsonObject) -> None:
        self.at = at
        self.message = message
        self.call: PastCall | None = None

    @property
    def counts(self) -> bool:
        """Is it the result of its call: neither a second one nor an orphan?"""
        return self.call is not None and self.call.result is self


class Past:
    """What the rules need to know of a message history. All lists are in order of appearance."""

    __slots__ = ("developers", "hollow", "results", "tools", "turns")

    def __init__(self) -> None:
        self.turns: list[Turn] = []
        self.results: list[Result] = []
        self.hollow: list[int] = []  # places of assistant messages with neither content nor calls
        self.developers: list[int] = []  # places of developer messages
        self.tools: list[Any] = []  # offered inside messages (K3's dynamic tools)


def read_past(messages: Any, accept_role_tool: bool) -> Past:
    """Read the history. Raises BadRequest with the path of what cannot be read."""
    if not isinstance(messages, list):
        raise BadRequest("must be a list" if messages is not None else "is missing", path="messages")
    past = Past()
    for at, message in enumerate(messages):
        if not isinstance(message, dict):
            raise BadRequest("must be an object", path=f"messages[{at}]")
        role = message.get("role")
        if role == "assistant":
            if message.get("tool_calls"):
                _check_calls(message["tool_calls"], at)
                past.turns.append(Turn(at, message))
            elif is_hollow(message):
                past.hollow.append(at)
        elif role == "tool":
            if accept_role_tool:
                _check_result(message, at)
            past.results.append(Result(at, message))
        elif role == "developer":
            past.developers.append(at)
        if "tools" in message and isinstance(message["tools"], list):
            past.tools += message["tools"]
    if past.turns and past.results:
        _pair(past)
    return past


def is_hollow(message: JsonObject) -> bool:
    """Has this assistant message without calls no content either? A prefix to go on from (`partial`) is content."""
    content = message.get("content")
    if content is not None and content != "" and not (isinstance(content, list) and all(map(is_empty_text, content))):
        return False
    return not (message.get("partial") or message.get("function_call"))


def is_empty_text(part: Any) -> bool:
    """Is this part of a content list a text without any character?"""
    return isinstance(part, dict) and part.get("type") == "text" and part.get("text") == ""


def _check_calls(calls: Any, at: int) -> None:
    if not isinstance(calls, list):
        raise BadRequest("must be a list", path=f"messages[{at}].tool_calls")
    for position, call in enumerate(calls):
        function = call.get("function") if isinstance(call, dict) else None
        name = function.get("name") if isinstance(function, dict) else None
        if isinstance(name, str) and name:
            continue
        path = f"messages[{at}].tool_calls[{position}]"
        if not isinstance(call, dict):
            raise BadRequest("must be an object", path=path)
        if not isinstance(function, dict):
            raise BadRequest("must be an object", path=f"{path}.function")
        raise BadRequest("must be a text that is not empty", path=f"{path}.function.name")


def _check_result(message: JsonObject, at: int) -> None:
    given = message.get("tool_call_id")
    if not isinstance(given, str) or not given:
        raise BadRequest("a tool message needs the id of its call", path=f"messages[{at}].tool_call_id")
    if message.get("content") is None:
        raise BadRequest('a tool message needs content ("" is content)', path=f"messages[{at}].content")


def _pair(past: Past) -> None:
    """Give each result its call. Known ids first, then the unknown and empty ones take what is still open."""
    strays: list[tuple[Result, Turn]] = []
    nearest: dict[str, PastCall] = {}  # id → the call of the nearest message before that a result now belongs to
    turns = iter(past.turns)
    coming = next(turns, None)
    current: Turn | None = None
    for result in past.results:
        while coming is not None and coming.at < result.at:
            current = coming
            _add_ids(nearest, coming)
            coming = next(turns, None)
        call = nearest.get(_id_of(result))
        if call is not None:
            result.call = call
            if call.result is None:
                call.result = result
                if call.twin is not None:
                    nearest[call.given] = call.twin
            elif call.result.message.get("content") == NO_OUTPUT:
                call.result = result  # late, but the real one
        elif current is not None:
            strays.append((result, current))
    for result, turn in strays:
        open_call = turn.first_unanswered()
        if open_call is not None:
            open_call.result = result
            result.call = open_call


def _add_ids(nearest: dict[str, PastCall], turn: Turn) -> None:
    for call in reversed(turn.calls):
        if call.given:
            before = nearest.get(call.given)
            call.twin = before if before is not None and before.turn is turn else None
            nearest[call.given] = call


def _id_of(result: Result) -> str:
    given = result.message.get("tool_call_id")
    return given if isinstance(given, str) else ""
