"""The calls and results of a message history, and which result belongs to which call (sections 1 and 3.4).

Reading changes nothing. It refuses what no rule could work with, and leaves the rest to the provider.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from moongate.chat.call_grouping import body_of
from moongate.errors import BadRequest
from moongate.payload import JsonObject
from moongate.wire.threads import EVERY, let_threads_run

NO_OUTPUT: Final = "(no output)"  # the result that is made up for a call without one

MISSING: Final = -1  # instead of a number


class History:
    """What the rules need to know of a message history. All lists are in order of appearance.

    A turn is an assistant message with calls. Turns, calls and results are numbers, and what is known of them is kept
    in columns: a history may hold a hundred thousand of them, and an object for each would cost too much memory.
    """

    __slots__ = (
        *("call_of_result", "calls", "developer_messages", "dropped", "empty_messages", "final_ids", "first_calls"),
        *("names", "original_ids", "result_of_call", "results", "tool_messages", "turns"),
    )

    def __init__(self) -> None:
        self.turns: list[int] = []  # positions of their messages
        self.first_calls: list[int] = [0]  # the first call of each turn, then the number of calls
        self.calls: list[JsonObject] = []  # as the client wrote them
        self.original_ids: list[str] = []  # of the calls, "" if it is no string
        self.names: list[str] = []  # of the calls, "" if it has none
        self.dropped: set[int] = set()  # calls without a name: they are not sent, and neither are their results
        self.final_ids: Sequence[str] = self.original_ids  # of the calls, after the repair
        self.result_of_call: list[int] = []  # the result that counts for each call, or MISSING
        self.results: list[int] = []  # positions of tool messages
        self.call_of_result: list[int] = []  # the call of each result, or MISSING
        self.empty_messages: list[int] = []  # positions of assistant messages with neither content nor calls
        self.developer_messages: list[int] = []  # positions
        self.tool_messages: list[int] = []  # positions of messages that offer tools (dynamic tools)

    def calls_of(self, turn: int) -> range:
        return range(self.first_calls[turn], self.first_calls[turn + 1])

    def counts(self, result: int) -> bool:
        """Whether it is the result of its call: neither a second one nor an orphan, nor that of a dropped call."""
        call = self.call_of_result[result]
        return call != MISSING and self.result_of_call[call] == result and call not in self.dropped

    @property
    def sends_calls(self) -> bool:
        """Whether calls are sent."""
        return len(self.calls) > len(self.dropped)

    @property
    def needs_writing(self) -> bool:
        """Whether anything is in it that a rule may change."""
        return bool(self.turns or self.results or self.empty_messages or self.developer_messages)

    def is_dropped(self, turn: int) -> bool:
        """Whether none of its calls is sent."""
        return bool(self.dropped) and self.dropped.issuperset(self.calls_of(turn))

    def add_turn(self, position: int, calls: list[JsonObject]) -> None:
        self.turns.append(position)
        self.calls += calls
        original_ids, names, result_of_call = self.original_ids, self.names, self.result_of_call
        for call in calls:
            original_id = call.get("id")
            original_ids.append(original_id if isinstance(original_id, str) else "")
            names.append(call_name(call))
            result_of_call.append(MISSING)
        self.first_calls.append(len(self.calls))

    def drop_nameless_calls(self) -> None:
        """A call without a name is no call (section 3.9): neither it nor its results are sent."""
        self.dropped = {call for call, name in enumerate(self.names) if not name}


def read_history(messages: object, accept_role_tool: bool, repairs_ids: bool = True) -> History:
    """Read the history. Raises BadRequest with the path of what cannot be read.

    Without `repairs_ids` (section 3 is off) a result belongs only to a call whose id it has, and no call is dropped.
    """
    if not isinstance(messages, list):
        raise BadRequest("must be a list" if messages is not None else "is missing", path="messages")
    history = History()
    for at, message in enumerate(messages):
        if at and not at % EVERY:
            let_threads_run()
        if not isinstance(message, dict):
            raise BadRequest("must be an object", path=f"messages[{at}]")
        role = message.get("role")
        if role == "assistant":
            if message.get("tool_calls"):
                _check_calls(message["tool_calls"], at)
                history.add_turn(at, message["tool_calls"])
            elif is_empty(message):
                history.empty_messages.append(at)
        elif role == "tool":
            if accept_role_tool:
                _check_result(message, at)
            history.results.append(at)
        elif role == "developer":
            history.developer_messages.append(at)
        if "tools" in message and isinstance(message["tools"], list):
            history.tool_messages.append(at)
    if repairs_ids and "" in history.names:
        history.drop_nameless_calls()
    history.call_of_result = [MISSING] * len(history.results)
    if history.turns and history.results:
        unmatched = _match_results(history, messages)
        if unmatched and repairs_ids:
            _take_open_calls(history, unmatched)
    return history


def call_name(call: JsonObject) -> str:
    """The name of the called tool, "" if there is none."""
    function = call.get("function")
    name = (function if isinstance(function, dict) else body_of(call)[1]).get("name")
    return name if isinstance(name, str) else ""


def is_empty(message: JsonObject) -> bool:
    """Whether an assistant message without calls has no content either. A prefix to complete (`partial`) is content."""
    content = message.get("content")
    if content is not None and content != "" and not (isinstance(content, list) and all(map(is_empty_text, content))):
        return False
    return not (message.get("partial") or message.get("function_call"))


def is_empty_text(part: object) -> bool:
    """Whether this part of a content list is an empty text."""
    return isinstance(part, dict) and part.get("type") == "text" and part.get("text") == ""


def _check_calls(calls: object, at: int) -> None:
    if not isinstance(calls, list):
        raise BadRequest("must be a list", path=f"messages[{at}].tool_calls")
    for position, call in enumerate(calls):
        if not isinstance(call, dict):
            raise BadRequest("must be an object", path=f"messages[{at}].tool_calls[{position}]")
        for kind in ("function", "custom"):
            body = call.get(kind)
            if body is None:
                continue
            if not isinstance(body, dict):
                raise BadRequest("must be an object", path=f"messages[{at}].tool_calls[{position}].{kind}")
            name = body.get("name")
            if not isinstance(name, str) and name is not None:
                raise BadRequest("must be a text", path=f"messages[{at}].tool_calls[{position}].{kind}.name")


def _check_result(message: JsonObject, at: int) -> None:
    call_id = message.get("tool_call_id")
    if not isinstance(call_id, str) or not call_id:
        raise BadRequest("a tool message needs the id of its call", path=f"messages[{at}].tool_call_id")
    if message.get("content") is None:
        raise BadRequest('a tool message needs content ("" is content)', path=f"messages[{at}].content")


def _match_results(history: History, messages: list[JsonObject]) -> list[tuple[int, int]]:
    """Give each result the call whose id it has. The others, each with the nearest turn before it, are returned."""
    unmatched: list[tuple[int, int]] = []  # result, turn
    nearest: dict[str, int] = {}  # id → the call of the nearest turn before, to which a result with this id belongs
    duplicates: dict[int, int] = {}  # call → the next call of the same turn with the same id
    turn = open_turn = MISSING
    positions, result_of_call = [*history.turns, len(messages)], history.result_of_call
    for result, at in enumerate(history.results):
        if not result % EVERY:
            let_threads_run()
        while positions[turn + 1] < at:
            turn += 1
            _add_ids(history, turn, nearest, duplicates)
            if not history.is_dropped(turn):
                open_turn = turn
        call_id = messages[at].get("tool_call_id")
        call = nearest.get(call_id, MISSING) if isinstance(call_id, str) else MISSING
        if call != MISSING:
            history.call_of_result[result] = call
            if result_of_call[call] == MISSING:
                result_of_call[call] = result
                if call in duplicates:
                    nearest[history.original_ids[call]] = duplicates[call]
            elif messages[history.results[result_of_call[call]]].get("content") == NO_OUTPUT:
                result_of_call[call] = result  # the real result, after one that was made up
        elif open_turn != MISSING:
            unmatched.append((result, open_turn))
    return unmatched


def _add_ids(history: History, turn: int, nearest: dict[str, int], duplicates: dict[int, int]) -> None:
    """The calls of this turn are the nearest now; of equal ids, the first one."""
    first = history.first_calls[turn]
    for call in range(history.first_calls[turn + 1] - 1, first - 1, -1):  # a loop without a `range` object
        original_id = history.original_ids[call]
        if original_id:
            before = nearest.get(original_id, MISSING)
            if before >= first:
                duplicates[call] = before
            nearest[original_id] = call


def _take_open_calls(history: History, unmatched: list[tuple[int, int]]) -> None:
    """Each result takes the first call of its turn that has none; a dropped call is no call."""
    open_from: dict[int, int] = {}  # turn → its calls before this one have results
    for result, turn in unmatched:
        call, end = open_from.get(turn, history.first_calls[turn]), history.first_calls[turn + 1]
        while call < end and (history.result_of_call[call] != MISSING or call in history.dropped):
            call += 1
        open_from[turn] = call
        if call < end:
            history.result_of_call[call] = result
            history.call_of_result[result] = call
