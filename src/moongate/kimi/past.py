"""The calls and results of a message history, and which belongs to which (sections 1 and 3.4).

Reading changes nothing. It refuses what no rule could work with, and leaves the rest to the provider's judgement.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from moongate.errors import BadRequest
from moongate.payload import JsonObject

NO_OUTPUT: Final = "(no output)"  # what a call without a result is answered with


NONE: Final = -1  # instead of a number


class Past:
    """What the rules need to know of a message history. All lists are in order of appearance.

    A turn is an assistant message with calls. Turns, calls and results go by their numbers, and what is known of them
    stands in columns: a history may hold a hundred thousand of them, and an object for each is dear to keep.
    """

    __slots__ = (
        *("calls", "developers", "finals", "given", "hollow", "names", "of_calls", "of_results", "results"),
        *("starts", "tools", "turns"),
    )

    def __init__(self) -> None:
        self.turns: list[int] = []  # their places
        self.starts: list[int] = [0]  # the first call of each turn, and where the calls of the last one end
        self.calls: list[JsonObject] = []  # what the client wrote
        self.given: list[str] = []  # their ids, "" for what is no text
        self.names: list[str] = []
        self.finals: Sequence[str] = self.given  # the ids that they get
        self.of_calls: list[int] = []  # the result of each call that counts, or NONE
        self.results: list[int] = []  # places of tool messages
        self.of_results: list[int] = []  # the call of each, or NONE
        self.hollow: list[int] = []  # places of assistant messages with neither content nor calls
        self.developers: list[int] = []  # places of developer messages
        self.tools: list[Any] = []  # offered inside messages (K3's dynamic tools)

    def calls_of(self, turn: int) -> range:
        return range(self.starts[turn], self.starts[turn + 1])

    def counts(self, result: int) -> bool:
        """Is it the result of its call: neither a second one nor an orphan?"""
        call = self.of_results[result]
        return call != NONE and self.of_calls[call] == result

    def add_turn(self, at: int, bodies: list[JsonObject]) -> None:
        self.turns.append(at)
        self.calls += bodies
        for body in bodies:
            given = body.get("id")
            self.given.append(given if isinstance(given, str) else "")
            self.names.append(body["function"]["name"])
            self.of_calls.append(NONE)
        self.starts.append(len(self.calls))


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
                past.add_turn(at, message["tool_calls"])
            elif is_hollow(message):
                past.hollow.append(at)
        elif role == "tool":
            if accept_role_tool:
                _check_result(message, at)
            past.results.append(at)
        elif role == "developer":
            past.developers.append(at)
        if "tools" in message and isinstance(message["tools"], list):
            past.tools += message["tools"]
    past.of_results = [NONE] * len(past.results)
    if past.turns and past.results:
        _pair(past, messages)
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


def _pair(past: Past, messages: list[JsonObject]) -> None:
    """Give each result its call. Known ids first, then the unknown and empty ones take what is still open."""
    strays: list[tuple[int, int]] = []  # results and turns
    nearest: dict[str, int] = {}  # id → the call of the nearest message before that a result now belongs to
    twins: dict[int, int] = {}  # call → the next one of the same message with the same id
    turn, places, of_calls = NONE, [*past.turns, len(messages)], past.of_calls
    for result, at in enumerate(past.results):
        while places[turn + 1] < at:
            turn += 1
            _add_ids(past, turn, nearest, twins)
        given = messages[at].get("tool_call_id")
        call = nearest.get(given, NONE) if isinstance(given, str) else NONE
        if call != NONE:
            past.of_results[result] = call
            if of_calls[call] == NONE:
                of_calls[call] = result
                if call in twins:
                    nearest[past.given[call]] = twins[call]
            elif messages[past.results[of_calls[call]]].get("content") == NO_OUTPUT:
                of_calls[call] = result  # late, but the real one
        elif turn != NONE:
            strays.append((result, turn))
    if strays:
        _take_open_calls(past, strays)


def _add_ids(past: Past, turn: int, nearest: dict[str, int], twins: dict[int, int]) -> None:
    """The calls of this turn are the nearest now, of equal ids the first one."""
    calls = past.calls_of(turn)
    for call in reversed(calls):
        given = past.given[call]
        if given:
            before = nearest.get(given, NONE)
            if before >= calls.start:
                twins[call] = before
            nearest[given] = call


def _take_open_calls(past: Past, strays: list[tuple[int, int]]) -> None:
    """Each result takes the first call of its turn that has none."""
    open_from: dict[int, int] = {}  # turn → the calls before are answered
    for result, turn in strays:
        call, end = open_from.get(turn, past.starts[turn]), past.starts[turn + 1]
        while call < end and past.of_calls[call] != NONE:
            call += 1
        open_from[turn] = call
        if call < end:
            past.of_calls[call] = result
            past.of_results[result] = call
