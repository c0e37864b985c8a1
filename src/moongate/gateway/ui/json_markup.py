"""JSON as HTML: in lines with the notes beside their places, or in one line; changed places are marked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Final

from moongate.gateway.ui.json_view import MAX_DEPTH, child_path, json_lines
from moongate.gateway.ui.markup import Markup, tag
from moongate.payload import JsonObject, dumps

MAX_INLINE: Final = 4000  # characters of one string in one line
MARKERS: Final = "markers_parsed"
NO_PATHS: Final[frozenset[str]] = frozenset()


def block(
    value: object, marked: Set[str] = NO_PATHS, notes: Mapping[str, Sequence[JsonObject]] | None = None
) -> Markup:
    """One line for each value. `notes` are those of each path; each is shown behind the first line of its place."""
    shown: set[str] = set()
    around: str | None = None  # the marked place that the lines are in
    lines = []
    for line in json_lines(value):
        here = [] if notes is None or line.path in shown else notes.get(line.path, [])
        shown.add(line.path)
        if around is None or not (line.path == around or line.path.startswith((f"{around}.", f"{around}["))):
            around = line.path if line.path in marked else None
        is_marked = around is not None
        text: object = tag("mark", line.text) if is_marked else line.text
        more = f" {line.cut:,} characters more" if line.cut else None
        chips = [tag("span", note_words(note), class_="note") for note in here]
        lines.append(tag("span", "  " * line.depth, text, more, *chips, class_="line" + (" noted" if here else "")))
    return tag("pre", *lines, class_="json", tabindex="0")


def inline(value: object, marked: Set[str] = NO_PATHS, path: str = "", depth: int = 0) -> Markup:
    """In one line."""
    if path in marked and path:
        return tag("mark", inline(value, NO_PATHS, path, depth))
    if depth < MAX_DEPTH and isinstance(value, dict) and value:
        parts: list[object] = []
        for key, child in value.items():
            label = dumps(key).decode("utf-8", "replace")
            parts += [
                "," if parts else "{",
                tag("i", label),
                ":",
                inline(child, marked, child_path(path, key), depth + 1),
            ]
        return tag("span", *parts, "}")
    if depth < MAX_DEPTH and isinstance(value, list) and value:
        items: list[object] = []
        for index, child in enumerate(value):
            items += ["," if items else "[", inline(child, marked, child_path(path, index), depth + 1)]
        return tag("span", *items, "]")
    return tag("span", cut_text(dumps(value).decode("utf-8", "replace")))


def cut_text(text: str, limit: int = MAX_INLINE) -> str:
    return text if len(text) <= limit else f"{text[:limit]}… {len(text) - limit:,} characters more"


def note_words(note: JsonObject) -> str:
    """A note in one line: what kind, what stood there and what stands there now, and why."""
    before, after, why = note.get("before"), note.get("after"), note.get("why")
    change = "" if before is None and after is None else f": {_short(before)} → {_short(after)}"
    if note.get("kind") == MARKERS and before is not None:
        # What became of it is the id of a call. Of a marker that became none, a reason stands there.
        became_call = " " not in str(after)
        change = f": read as the call {_short(after)}" if became_call else f": {_short(before)} taken out"
        why = why or (None if became_call else after)
    return f"{note.get('kind')}{change}{f' ({_plain(why)})' if why else ''}"


def _short(value: object) -> str:
    return "nothing" if value is None else cut_text(str(value), 120)


def _plain(value: object) -> str:
    return str(value).strip('"')
