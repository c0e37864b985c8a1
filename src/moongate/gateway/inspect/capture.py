"""One request as it is captured: what came, what was sent, what was received, what left, and when.

A captured answer is fed to the session event by event, so that each repair and each write is known by the event that
caused it. A session gives the same output however its input is cut, so the client gets what it would have got.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from time import perf_counter, time
from typing import TYPE_CHECKING, Any, Final

from moongate.chat.contracts import Exchange, Note
from moongate.pipeline.chain import ChainExchange

if TYPE_CHECKING:
    from moongate.gateway.target import Target

MAX_KEPT: Final = 1 << 20  # bytes of each body, and of each answer
MAX_NOTES: Final = 1000  # of a request
MAX_PIECES: Final = 4000  # events of an answer; later ones are joined with the last
NO_CAUSE: Final = (-1, -1)


@dataclass(slots=True)
class Piece:
    """One event, or one write. `cause` is the attempt and the event that led to a write, each from 0; -1: none did."""

    at: float
    data: bytearray
    cause: tuple[int, int] = NO_CAUSE


class CapturedBody:
    """Pieces of bytes with their times, up to a limit. `cut` says how many bytes were not kept."""

    __slots__ = ("_size", "cut", "pieces")

    def __init__(self) -> None:
        self.pieces: list[Piece] = []
        self.cut = 0
        self._size = 0

    def add(self, at: float, data: bytes, cause: tuple[int, int] = NO_CAUSE) -> int:
        """The number of the piece."""
        kept = data[: MAX_KEPT - self._size]
        self.cut += len(data) - len(kept)
        self._size += len(kept)
        if self.pieces and (not kept or len(self.pieces) >= MAX_PIECES):
            self.pieces[-1].data += kept
        elif kept:
            self.pieces.append(Piece(at, bytearray(kept), cause))
        return len(self.pieces) - 1


@dataclass(slots=True)
class CapturedAttempt:
    """One request to a provider and its answer. Times count from the beginning of the client's request."""

    target: str
    url: str
    request: bytes
    sent_at: float
    further: bool  # a further try of the guard
    head_at: float | None = None
    ended_at: float | None = None
    status: int | None = None
    content_type: str = ""
    error: str = ""
    answer: CapturedBody = field(default_factory=CapturedBody)


class Capture:
    """Of one request, while it runs. What is given to it is kept as it is; secrets are taken out when it is stored."""

    def __init__(self, request_id: str, user_agent: str, began: float) -> None:
        self.id = request_id
        self.user_agent = user_agent
        self.began = began  # by the clock of `perf_counter`
        self.when = time() - (perf_counter() - began)
        self.request = b""
        self.attempts: list[CapturedAttempt] = []
        self.answer = CapturedBody()
        self.status: int | None = None
        self.first_byte_at: float | None = None
        self.notes: list[tuple[int, int, Note]] = []  # attempt and event, -1: before the answer
        self.exchange: Exchange | None = None  # of the attempt that runs
        self.event = -1  # of the provider's answer that is worked on
        self._seen: Counter[Hashable] = Counter()  # notes that were taken, of any attempt
        self._present: Counter[Hashable] = Counter()  # those of the exchange that was looked at last
        self._looked_at: list[tuple[Exchange, int]] = []  # its parts, and how many notes of each were taken

    def now(self) -> float:
        return perf_counter() - self.began

    def begin_attempt(self, target: Target, body: bytes, *, further: bool) -> CapturedAttempt:
        origin = target.origins[0]
        url = f"{'https' if origin.tls else 'http'}://{origin.authority}{target.path}"
        attempt = CapturedAttempt(target.name, url, body, self.now(), further)
        self.attempts.append(attempt)
        self.event = -1
        self.take_notes()
        return attempt

    def take_notes(self) -> None:
        """Those that were added since the last time belong to what is worked on. It is called for each event, so only
        new notes are looked at, and none beyond the limit."""
        exchange = self.exchange
        if exchange is None or len(self.notes) >= MAX_NOTES:
            return
        parts = exchange.exchanges if isinstance(exchange, ChainExchange) else (exchange,)
        before, self._looked_at = self._looked_at, []
        if not before or before[0][0] is not parts[0]:
            self._present = Counter()
        for at, part in enumerate(parts):
            notes = part.notes
            taken = before[at][1] if at < len(before) and before[at][0] is part else 0
            if len(notes) > taken:
                self._take(notes[taken : taken + MAX_NOTES])
            self._looked_at.append((part, len(notes)))

    def _take(self, found: Sequence[Note]) -> None:
        """Take the notes that no attempt had before: further attempts make most of them again. Equal ones are counted
        to find those that are new."""
        for note in found:
            name = _name_of(note)
            self._present[name] += 1
            if self._present[name] > self._seen[name] and len(self.notes) < MAX_NOTES:
                self._seen[name] = self._present[name]
                self.notes.append((len(self.attempts) - 1, self.event, note))

    def write(self, data: bytes) -> None:
        """Something left for the client."""
        if self.first_byte_at is None:
            self.first_byte_at = self.now()
        self.answer.add(self.now(), data, (len(self.attempts) - 1, self.event))

    def finish(self, request: bytes, notes: Sequence[Note]) -> None:
        """`notes` are all of the request's, those of the front included."""
        self.request = request
        self.take_notes()
        self.event, self._present = -1, Counter()
        self._take(notes[:MAX_NOTES])


def _name_of(note: Note) -> Hashable:
    """The same for equal notes. Large values are not read: that would take as long as they are."""
    if not isinstance(note, Note):  # of a custom transformer it may be of any class that has a kind
        return repr(note)
    return note.kind, note.where, _name_of_value(note.before), _name_of_value(note.after), note.why


def _name_of_value(value: Any) -> Hashable:
    return (type(value), len(value)) if isinstance(value, dict | list | tuple) else value
