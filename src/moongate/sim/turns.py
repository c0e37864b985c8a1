"""Which tool turns of a vendor with known rates come out damaged, and what it remembers of them.

Each tool turn gets a number as it comes; the seed and the number alone decide whether it is damaged, and how. A
damaged turn is remembered by the messages of its request: the same messages again are another try, and messages that
go on from there with an answer that is not the right one are a refused try with what the client said to it.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from moongate.payload import JsonObject, dumps, object_of
from moongate.sim.behaviours import Behaviour
from moongate.sim.conversation import SimAnswer, calls_in, next_answer
from moongate.sim.damage import DamagedAnswer, damaged, kinds_of_calls
from moongate.sim.offered_tools import offered

MAX_REMEMBERED: Final = 20_000  # damaged turns
_DRAWS: Final = 2**32


@dataclass(slots=True)
class TurnMemory:
    """The damaged turns of a vendor: how many there were, and the messages before each."""

    turns: int = 0
    damaged: OrderedDict[bytes, int] = field(default_factory=OrderedDict)  # messages before it → its draw
    limit: int = MAX_REMEMBERED

    def play(self, request: JsonObject, behaviour: Behaviour) -> DamagedAnswer:
        """The answer to this request, damaged or not (then its kind is "")."""
        if behaviour.valid_share >= 1:
            return DamagedAnswer("", next_answer(request, behaviour), behaviour)
        messages = [m for m in request.get("messages") or [] if isinstance(m, dict)]
        prefixes = _prefixes(messages)
        left, refused_last = self._without_refused(request, messages, prefixes, behaviour)
        calls = sum(len(calls_in(message)) for message in messages)
        answer = next_answer({**request, "messages": left}, behaviour, ids_from=calls)
        if not answer.calls:
            return self._needless(request, answer, behaviour, calls)
        draw = self._draw(prefixes[-1], behaviour, refused_last=refused_last) if kinds_of_calls(behaviour) else None
        if draw is None:
            return DamagedAnswer("", answer, behaviour)
        self._remember(prefixes[-1], draw)
        return damaged(answer, behaviour, [tool.name for tool in offered(request)], draw)

    def _draw(self, turn: bytes, behaviour: Behaviour, *, refused_last: bool) -> int | None:
        """What is wrong with this try, as a number; None if nothing is."""
        before = self.damaged.get(turn)
        if behaviour.recovery == "second" and before is not None:
            del self.damaged[turn]
            return None
        if behaviour.recovery and refused_last:
            return 0 if behaviour.recovery == "never" else None
        if behaviour.recovery in ("error", "never") and before is not None:
            return before
        self.turns += 1
        return drawn(behaviour.seed, self.turns, behaviour.valid_share)

    def _needless(self, request: JsonObject, answer: SimAnswer, behaviour: Behaviour, calls: int) -> DamagedAnswer:
        """A text is due. With the kind `needless-calls`, a share of texts is a call instead."""
        if "needless-calls" not in behaviour.damage or not offered(request) or request.get("tool_choice") == "none":
            return DamagedAnswer("", answer, behaviour)
        self.turns += 1
        if drawn(behaviour.seed, self.turns, behaviour.valid_share) is None:
            return DamagedAnswer("", answer, behaviour)
        forced = {**request, "messages": [{"role": "user", "content": "hi"}], "tool_choice": "required"}
        return DamagedAnswer("needless-calls", next_answer(forced, behaviour, ids_from=calls), behaviour)

    def _without_refused(
        self, request: JsonObject, messages: list[JsonObject], prefixes: Sequence[bytes], behaviour: Behaviour
    ) -> tuple[list[JsonObject], bool]:
        """The conversation without refused tries and the results to them; whether its last answer is such a try."""
        left: list[JsonObject] = []
        refused = refused_last = False
        for position, message in enumerate(messages):
            if message.get("role") == "assistant":
                refused = prefixes[position] in self.damaged and not self._mended(request, left, message, behaviour)
                refused_last = refused
            elif message.get("role") != "tool":
                refused = False
            if not refused:
                left.append(message)
        return left, refused_last

    @staticmethod
    def _mended(request: JsonObject, before: list[JsonObject], message: JsonObject, behaviour: Behaviour) -> bool:
        """Whether the client got the right calls all the same, because something between has mended them."""
        right = next_answer({**request, "messages": before}, behaviour)
        found = [call.get("function") or {} for call in calls_in(message)]
        return len(found) == len(right.calls) and all(
            function.get("name") == call.name
            and object_of(function.get("arguments") or "") == object_of(call.arguments)
            for function, call in zip(found, right.calls, strict=True)
        )

    def _remember(self, turn: bytes, draw: int) -> None:
        self.damaged[turn] = draw
        self.damaged.move_to_end(turn)
        if len(self.damaged) > self.limit:
            self.damaged.popitem(last=False)


def drawn(seed: int, turn: int, valid_share: float) -> int | None:
    """None for a turn that is right; else a number that selects the damage."""
    digest = hashlib.sha256(f"{seed}:{turn}".encode()).digest()
    if int.from_bytes(digest[:4]) < valid_share * _DRAWS:
        return None
    return int.from_bytes(digest[4:8])


def _prefixes(messages: Sequence[JsonObject]) -> list[bytes]:
    """A digest of the messages before each position, and of all."""
    running = hashlib.sha256()
    digests = [running.digest()]
    for message in messages:
        running.update(dumps(message) + b"\n")
        digests.append(running.digest())
    return digests
