"""What a capture says of the request and the answer: pairs of what came and what left, with the notes of each."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from moongate.gateway.ui.json_view import differences
from moongate.payload import JsonObject, loads

CHAT: Final = "chat"
_PATH_PART: Final = re.compile(r"[^.\[\]]+")
_EVENT_END: Final = re.compile(r"\r?\n\r?\n|\r\r")


@dataclass(frozen=True, slots=True)
class ShownEvent:
    """One event, or a whole body. `value` is its JSON, if `is_json`; `name` its `event:` line."""

    text: str
    name: str = ""
    value: Any = None
    is_json: bool = False


@dataclass(frozen=True, slots=True)
class EventRow:
    """What one event of the provider led to; `came` None: nothing of the provider did."""

    at: float
    came: ShownEvent | None
    left: list[ShownEvent]
    left_at: float | None
    notes: list[JsonObject] = field(default_factory=list)
    gone: frozenset[str] = frozenset()  # marked in `came`
    new: frozenset[str] = frozenset()  # marked in the first of `left`
    unchanged: bool = False


def read_event(text: str) -> ShownEvent:
    name, data = "", []
    for line in text.splitlines():
        if line.startswith("event:"):
            name = line[6:].strip()
        elif line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
    body = "\n".join(data) if data else text.strip()
    try:
        return ShownEvent(text, name, loads(body), is_json=True)
    except ValueError:
        return ShownEvent(body or text.strip(), name)


def read_events(text: str) -> list[ShownEvent]:
    return [read_event(part) for part in _EVENT_END.split(text) if part.strip()]


def event_rows(capture: JsonObject) -> list[EventRow]:
    """In the order of time. Only of attempts that led to something, or had an answer."""
    front = capture["line"].get("front")
    writes: dict[tuple[int, int], list[JsonObject]] = {}
    for piece in capture["answer"]["pieces"]:
        cause = piece["cause"]
        writes.setdefault((cause[0], cause[1]), []).append(piece)
    notes: dict[tuple[int, int], list[JsonObject]] = {}
    for note in capture["notes"]:
        notes.setdefault((note["attempt"], note["event"]), []).append(note)
    rows = []
    for number, attempt in enumerate(capture["attempts"]):
        for index, piece in enumerate(attempt["answer"]["pieces"]):
            place = number, index
            rows.append(_row(piece, writes.pop(place, []), notes.get(place, []), compare=front == CHAT))
    for pieces in writes.values():
        left = [event for each in pieces for event in read_events(each["text"])]
        if left:
            rows.append(EventRow(pieces[0]["at"], None, left, pieces[0]["at"]))
    return sorted(rows, key=lambda row: row.at)


def _row(piece: JsonObject, writes: list[JsonObject], notes: list[JsonObject], *, compare: bool) -> EventRow:
    came = read_event(piece["text"])
    left = [event for each in writes for event in read_events(each["text"])]
    left_at = writes[0]["at"] if writes else None
    same = "".join(each["text"] for each in writes) == piece["text"] or (
        len(left) == 1 and came.is_json and left[0].is_json and came.value == left[0].value
    )
    gone, new = frozenset[str](), frozenset[str]()
    if compare and came.is_json and len(left) == 1 and left[0].is_json:
        gone, new = map(frozenset, differences(came.value, left[0].value))
    elif came.is_json:
        gone = frozenset(places(came.value, notes))
    return EventRow(piece["at"], came, left, left_at, notes, gone, new, unchanged=same)


def places(value: Any, notes: Iterable[JsonObject]) -> set[str]:
    """The paths in an answer at which notes stand. In a chunk `delta` stands where a note says `message`."""
    found = set()
    for note in notes:
        where = str(note["where"])
        for path in (where, where.replace(".message", ".delta", 1)):
            if _has(value, path):
                found.add(path)
    return found


def _has(value: Any, path: str) -> bool:
    for part in _PATH_PART.findall(path)[:64]:
        if isinstance(value, dict) and part in value:
            value = value[part]
        elif isinstance(value, list) and part.isdecimal() and int(part) < len(value):
            value = value[int(part)]
        else:
            return False
    return bool(path)


def notes_by_place(value: Any, notes: Iterable[JsonObject]) -> tuple[dict[str, list[JsonObject]], list[JsonObject]]:
    """The notes of each path that is in the value, and those of places that are not."""
    found: dict[str, list[JsonObject]] = {}
    others: list[JsonObject] = []
    for note in notes:
        here = places(value, [note])
        if here:
            found.setdefault(min(here), []).append(note)
        else:
            others.append(note)
    return found, others
