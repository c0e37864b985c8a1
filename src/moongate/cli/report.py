"""The report of `moongate replay`: one line per event, with the choices first; at the end the totals in one line."""

from __future__ import annotations

import shutil
import sys
from collections import Counter
from collections.abc import Sequence
from typing import Final

from moongate.chat.contracts import Note
from moongate.chat.items import Chunk, Done, Item, Opaque
from moongate.cli.terminal import Colours
from moongate.payload import JsonObject, dumps_text

WIDTH: Final = 160  # of a line, unless a terminal says otherwise
MARGIN: Final = 10  # of the label before each line
SEEN: Final = "markers_seen"  # the one kind of note that is no repair


class Report:
    """Prints lines, none if `quiet`. Unless `wide`, an event is shown as its choices, and its envelope only where that
    changes."""

    def __init__(self, *, wide: bool, quiet: bool = False) -> None:
        self.totals = ReplayTotals()
        self._quiet = quiet
        self._paint = Colours()
        self._wide = wide
        columns = shutil.get_terminal_size((WIDTH + MARGIN, 0)).columns if sys.stdout.isatty() else WIDTH + MARGIN
        self._width = max(columns - MARGIN, 20)
        self._notes_shown = 0
        self._envelope: JsonObject = {}  # of the last event received
        self._last_received = ""  # how that event was shown

    def line(self, style: str, label: str, text: str, *, cut: bool = True) -> None:
        if self._quiet:
            return
        if cut and not self._wide and len(text) > self._width:
            text = text[: self._width - 1] + "…"
        print(f"{self._paint(f'{label:>8}', style)}  {text}")

    def received(self, item: Item) -> None:
        """An event that came in."""
        self.totals.received += 1
        self._last_received = self._shown(item)
        self.line("cyan", "in", self._last_received)
        if isinstance(item, Chunk):
            self._envelope = envelope_of(item.payload)

    def sent(self, items: Sequence[Item], received: Item) -> None:
        """What the chain made of the event that was received last."""
        for item in items:
            self.totals.add(item)
            if item is not received:
                self.line("green", "out", self._shown(item))
        if not items:
            self.line("dim", "out", "nothing (held back or removed)")

    def closed(self, items: Sequence[Item]) -> None:
        """What the chain had held back until the end."""
        for item in items:
            self.totals.add(item)
            self.line("green", "out", self._shown(item))

    def document(self, received: JsonObject, sent: JsonObject) -> None:
        """An answer that is one JSON document."""
        self.received(Chunk(received))
        self.totals.add(Chunk(sent))
        self.line("green", "out", "unchanged" if sent is received else self._shown(Chunk(sent)))

    def notes(self, notes: Sequence[Note], where: str = "") -> None:
        """The notes that are new since the last call."""
        for note in notes[self._notes_shown :]:
            self.totals.kinds[note.kind] += 1
            change = f"{dumps_text(note.before)} → {dumps_text(note.after)}"
            self.line("yellow", "note", f"{note.kind}: {change}, at {note.where or where}")
        self._notes_shown = len(notes)

    def _shown(self, item: Item) -> str:
        """One item on one line."""
        if isinstance(item, Chunk):
            short = choices_text(item.payload, self._envelope)
            # An event whose change the short form would hide is shown in full.
            return dumps_text(item.payload) if self._wide or short == self._last_received else short
        if isinstance(item, Done):
            return "[DONE]"
        if isinstance(item, Opaque):
            return item.raw.decode("utf-8", "replace").strip().replace("\n", "\\n") or "(blank)"
        return f"error {item.error.status}: {item.error}"


class ReplayTotals:
    """How many events came in and went out, and what was changed on the way."""

    def __init__(self) -> None:
        self.received = 0
        self.sent = 0
        self.kinds: Counter[str] = Counter()
        self._calls: set[tuple[str, str | int]] = set()
        self._finish: dict[str, object] = {}

    def add(self, item: Item) -> None:
        """Count one item that went out."""
        self.sent += 1
        for position, choice in enumerate(_choices(item.payload) if isinstance(item, Chunk) else ()):
            index = str(choice.get("index", position))
            message = choice.get("delta") or choice.get("message")
            calls = message.get("tool_calls") if isinstance(message, dict) else None
            for number, call in enumerate(calls if isinstance(calls, list) else ()):
                self._calls.add((index, str(call.get("index", number)) if isinstance(call, dict) else number))
            if choice.get("finish_reason") is not None:
                self._finish[index] = choice["finish_reason"]

    @property
    def calls(self) -> int:
        return len(self._calls)

    @property
    def finish_reasons(self) -> list[object]:
        return list(self._finish.values())

    @property
    def repairs(self) -> int:
        return self.kinds.total() - self.kinds[SEEN]

    def summary(self, outcome: str) -> str:
        kinds = [f"{kind} × {count}" if count > 1 else kind for kind, count in self.kinds.items()]
        return "; ".join(
            [
                f"{_count(self.received, 'event')} in, {self.sent} out",
                _count(len(self._calls), "call"),
                f"finish_reason {', '.join(map(dumps_text, self._finish.values())) or 'none'}",
                f"{_count(self.repairs, 'repair')}{': ' if kinds else ''}{', '.join(kinds)}",
                outcome,
            ]
        )


def choices_text(payload: JsonObject, known: JsonObject) -> str:
    """The choices of an event, then the members of its envelope that are not `known`."""
    choices = _choices(payload)
    parts = [_choice_text(choice, alone=len(choices) == 1) for choice in choices]
    rest = {key: value for key, value in envelope_of(payload).items() if key not in known or known[key] != value}
    return "  ".join([*parts, *([dumps_text(rest)] if rest or not parts else [])])


def envelope_of(payload: JsonObject) -> JsonObject:
    """The members of an event other than its choices; `choices` too, if it holds none."""
    return {key: value for key, value in payload.items() if key != "choices" or not _choices(payload)}


def _choices(payload: JsonObject) -> list[JsonObject]:
    choices = payload.get("choices")
    return choices if isinstance(choices, list) and all(isinstance(each, dict) for each in choices) else []


def _choice_text(choice: JsonObject, *, alone: bool) -> str:
    """`delta {…} finish_reason "stop"`; with its index, unless it is the only choice and has index 0."""
    index = "" if alone and choice.get("index", 0) == 0 else f"choice {dumps_text(choice.get('index'))}: "
    members = [f"{key} {dumps_text(value)}" for key, value in choice.items() if key != "index" and value is not None]
    return index + " ".join(members)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
