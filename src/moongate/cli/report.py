"""The report of `moongate replay`: one line per event, what was said first; at the end, all in one line."""

from __future__ import annotations

import shutil
import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from moongate.chat.contracts import Note
from moongate.chat.items import Chunk, Done, Item, Opaque
from moongate.cli.terminal import Paint
from moongate.payload import JsonObject, dumps_text

WIDTH: Final = 160  # where no terminal says another
MARGIN: Final = 10  # the word before each line
SEEN: Final = "markers_seen"  # the one kind of note that changes nothing


class Report:
    """Prints lines. Unless `wide`, an event is told by what it says, its envelope only where that changes."""

    def __init__(self, *, wide: bool) -> None:
        self.tally = Tally()
        self._paint = Paint()
        self._wide = wide
        columns = shutil.get_terminal_size((WIDTH + MARGIN, 0)).columns if sys.stdout.isatty() else WIDTH + MARGIN
        self._width = max(columns - MARGIN, 20)
        self._told = 0  # notes
        self._envelope: JsonObject = {}  # of the last event that came
        self._came = ""  # how that event was told

    def line(self, style: str, word: str, text: str, *, cut: bool = True) -> None:
        if cut and not self._wide and len(text) > self._width:
            text = text[: self._width - 1] + "…"
        print(f"{self._paint(f'{word:>8}', style)}  {text}")

    def came(self, item: Item) -> None:
        self.tally.came += 1
        self._came = self._shown(item)
        self.line("cyan", "came", self._came)
        if isinstance(item, Chunk):
            self._envelope = envelope_of(item.payload)

    def left(self, items: Sequence[Item], came: Item) -> None:
        """What the chain made of the event that came last."""
        for item in items:
            self.tally.add(item)
            if item is not came:
                self.line("green", "left", self._shown(item))
        if not items:
            self.line("dim", "left", "nothing (it waits, or it was removed)")

    def closed(self, items: Sequence[Item]) -> None:
        """What the chain had kept to the end."""
        for item in items:
            self.tally.add(item)
            self.line("green", "left", self._shown(item))

    def document(self, came: JsonObject, left: JsonObject) -> None:
        """A whole answer."""
        self.came(Chunk(came))
        self.tally.add(Chunk(left))
        self.line("green", "left", "as it came" if left is came else self._shown(Chunk(left)))

    def notes(self, notes: Sequence[Note], where: str = "") -> None:
        """Those that are new since the last time."""
        for note in notes[self._told :]:
            self.tally.kinds[note.kind] += 1
            change = f"{dumps_text(note.before)} → {dumps_text(note.after)}"
            self.line("yellow", "why", f"{note.kind}: {change}, at {note.where or where}")
        self._told = len(notes)

    def _shown(self, item: Item) -> str:
        """One item on one line."""
        if isinstance(item, Chunk):
            short = said(item.payload, self._envelope)
            # An event that differs, but not in what is told, is told in full.
            return dumps_text(item.payload) if self._wide or short == self._came else short
        if isinstance(item, Done):
            return "[DONE]"
        if isinstance(item, Opaque):
            return item.raw.decode("utf-8", "replace").strip().replace("\n", "\\n") or "(blank)"
        return f"error {item.error.status}: {item.error}"


class Tally:
    """What came, what left and what was changed on the way."""

    def __init__(self) -> None:
        self.came = 0
        self.left = 0
        self.kinds: Counter[str] = Counter()
        self._calls: set[tuple[Any, Any]] = set()
        self._finish: dict[Any, Any] = {}

    def add(self, item: Item) -> None:
        """One item that left."""
        self.left += 1
        for at, choice in enumerate(_choices(item.payload) if isinstance(item, Chunk) else ()):
            index = str(choice.get("index", at))
            spoken = choice.get("delta") or choice.get("message")
            calls = spoken.get("tool_calls") if isinstance(spoken, dict) else None
            for place, call in enumerate(calls if isinstance(calls, list) else ()):
                self._calls.add((index, str(call.get("index", place)) if isinstance(call, dict) else place))
            if choice.get("finish_reason") is not None:
                self._finish[index] = choice["finish_reason"]

    def words(self, *, whole: bool) -> str:
        repairs = self.kinds.total() - self.kinds[SEEN]
        kinds = [f"{kind} × {count}" if count > 1 else kind for kind, count in self.kinds.items()]
        return "; ".join(
            [
                f"{_count(self.came, 'event')} came, {self.left} left",
                _count(len(self._calls), "call"),
                f"finish_reason {', '.join(map(dumps_text, self._finish.values())) or 'none'}",
                f"{_count(repairs, 'repair')}{': ' if kinds else ''}{', '.join(kinds)}",
                "whole" if whole else "not whole",
            ]
        )


def said(payload: JsonObject, known: JsonObject) -> str:
    """What the choices say, then what else is not `known` from an envelope."""
    choices = _choices(payload)
    parts = [_choice_text(choice, alone=len(choices) == 1) for choice in choices]
    rest = {key: value for key, value in envelope_of(payload).items() if key not in known or known[key] != value}
    return "  ".join([*parts, *([dumps_text(rest)] if rest or not parts else [])])


def envelope_of(payload: JsonObject) -> JsonObject:
    """All but the choices; these too, if they are none."""
    return {key: value for key, value in payload.items() if key != "choices" or not _choices(payload)}


def _choices(payload: JsonObject) -> list[JsonObject]:
    choices = payload.get("choices")
    return choices if isinstance(choices, list) and all(isinstance(each, dict) for each in choices) else []


def _choice_text(choice: JsonObject, *, alone: bool) -> str:
    """`delta {…} finish_reason "stop"`; with its index, unless it is the only one and the first."""
    index = "" if alone and choice.get("index", 0) == 0 else f"choice {dumps_text(choice.get('index'))}: "
    members = [f"{key} {dumps_text(value)}" for key, value in choice.items() if key != "index" and value is not None]
    return index + " ".join(members)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
