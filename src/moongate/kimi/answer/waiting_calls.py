"""The native calls of a stream that wait: for their names, or to show whether they came as markers before."""

from __future__ import annotations

from moongate.kimi.answer.call import AnswerCall


class WaitingCalls:
    """Those of one choice, each in order of appearance. As dictionaries, so that many cost no more than they should."""

    __slots__ = ("all", "named", "unsure")

    def __init__(self) -> None:
        self.all: dict[AnswerCall, None] = {}
        self.named: dict[AnswerCall, None] = {}  # they have a name ...
        self.unsure: dict[AnswerCall, None] = {}  # ... of which more may come

    def add(self, call: AnswerCall, may_be_duplicate: bool) -> None:
        """The call waits; `may_be_duplicate`: for its arguments, since a call of its name came as markers."""
        self.all[call] = None
        if call.name:
            self.named[call] = None
            if not may_be_duplicate:
                self.unsure[call] = None

    def remove(self, call: AnswerCall) -> None:
        """The call waits no longer, if it did."""
        for calls in (self.all, self.named, self.unsure):
            calls.pop(call, None)

    def clear(self) -> None:
        for calls in (self.all, self.named, self.unsure):
            calls.clear()
