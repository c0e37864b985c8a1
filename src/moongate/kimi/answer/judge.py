"""What an answer was worth (section 13): it is judged by what the client gets, choice by choice."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

from moongate.chat.verdict import ABORTED, CLEAN, REPAIRED, Verdict, verdict_of_error
from moongate.errors import GatewayError
from moongate.kimi.notes import Notes
from moongate.kimi.request.tool_names import ToolNames
from moongate.payload import accepts, loads
from moongate.wire.threads import let_threads_run

_CUT_SHORT: Final = frozenset({"length", "content_filter"})  # the provider says so: what is cut is no damage
_NAMES: Final = frozenset({"tool_name", "id"})  # notes about the name of a tool, or about an id with the name in it
_NO_REPAIRS: Final = frozenset({"markers_seen", "empty_turn"})  # notes that report damage and change nothing


class JudgedCall(NamedTuple):
    """A call as the client sees it. The text of a custom one need not be JSON."""

    name: str
    arguments: str
    custom: bool = False
    misfit: bool = False  # it does not fit its schema, where that is checked


@dataclass(slots=True)
class ChoiceEnd:
    """How a choice ended."""

    reason: str | None  # the provider's finish reason
    truncated: bool = False  # the text ended inside the last call
    leaked: bool = False  # markup is visible
    cut_markup: bool = False  # markup is visible because the text ended inside it
    nameless: bool = False  # a call was dropped because it has no name
    has_content: bool = False


class Judge:
    """One per exchange. `offered`: the client's names of the tools; `call_required`: an answer without a call is
    damaged; `names`: a name that was changed for the provider and is turned back in the answer is no repair."""

    __slots__ = (
        "_call_required",
        "_ended",
        "_error",
        "_names",
        "_notes",
        "_offered",
        "_prefix",
        "_start",
        "calls",
        "choices",
        "ends",
    )

    def __init__(
        self, notes: Notes, offered: Collection[str], names: ToolNames, prefix: str, call_required: bool
    ) -> None:
        self._notes, self._offered, self._names, self._prefix = notes, offered, names, prefix
        self._call_required = call_required
        self._start = notes.begin_answer()
        self._ended = False
        self._error: Verdict | None = None
        self.choices: dict[int, frozenset[str]] = {}  # the kinds of damage of each choice that is over
        self.ends: dict[int, ChoiceEnd] = {}  # how they ended; nothing for sound text
        self.calls: dict[int, list[JudgedCall]] = {}  # of those that have some

    def choice(self, index: int, calls: Iterable[JudgedCall], end: ChoiceEnd) -> None:
        """A choice is over; `calls` in order. Whoever changes its calls afterwards has it judged again."""
        self.ends[index] = end
        if found := list(calls):
            self.calls[index] = found
        each = [self._damage(call) for call in found]
        last = each.pop() if each else None
        kinds = set[str]().union(*each, ("leaked",) if end.leaked else ())
        if end.reason not in _CUT_SHORT:
            if last is not None:
                kinds |= last - {"invalid_json"} if end.truncated else last
            elif self._call_required:
                kinds.add("missing_call")
            if last is None and not end.has_content:
                kinds.add("empty_turn")
            if end.truncated:
                kinds.add("cut_call")
            if end.cut_markup:
                kinds.add("leaked")
            if end.nameless:
                kinds.add("nameless")
        self.choices[index] = frozenset(kinds)

    def sound_text(self, index: int) -> None:
        """A choice is over that is nothing but text, and no call was required."""
        self.choices[index] = frozenset()

    def end(self) -> None:
        """The answer is over, and complete."""
        self._ended = True

    def fail(self, error: GatewayError) -> None:
        """The answer broke off, or this came instead of it."""
        if not self._ended:
            self._error = verdict_of_error(error)

    def verdict(self) -> Verdict:
        if self._error is not None:
            return self._error
        if not self._ended:
            return ABORTED
        if any(self.choices.values()) or not self.choices:
            return Verdict("damaged", tuple(sorted(frozenset[str]().union(*self.choices.values()) or {"empty_turn"})))
        return REPAIRED if self._is_repaired() else CLEAN

    def _damage(self, call: JudgedCall) -> set[str]:
        let_threads_run()
        kinds: set[str] = set()
        if call.name not in self._offered:
            kinds.add("unknown_tool")
        if not call.custom and not is_json(call.arguments):
            kinds.add("invalid_json")
        elif call.misfit:
            kinds.add("schema_mismatch")
        return kinds

    def _is_repaired(self) -> bool:
        """Is there a note of a repair? Names that the vendor only repeats as they were sent need none."""
        names, prefix = self._names, self._prefix
        if self._notes.position == self._start:
            return False
        for kind, before, after in self._notes.since(self._start):
            if kind in _NO_REPAIRS:
                continue
            turned_back = (
                names.renamed
                and kind in _NAMES
                and isinstance(before, str)
                and after in (names.original(before), names.original_id(before, prefix))
            )
            if not turned_back:
                return True
        return False


def is_json(text: str) -> bool:
    """Is it the text of a JSON value?"""
    if accepts(text):
        return True
    try:
        loads(text)
    except ValueError:
        return False
    return True
