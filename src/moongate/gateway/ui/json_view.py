"""JSON as lines of text with the path of each, and the paths at which two values differ. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from moongate.payload import dumps

MAX_LINES: Final = 5000
MAX_STRING: Final = 4000  # characters of a string that are shown
MAX_DEPTH: Final = 64
MAX_DIFFERENCES: Final = 500
MAX_PATH: Final = 1024  # characters of a path, and of a name in it: what is deeper has the path of what it is in


class JsonLine(NamedTuple):
    """`path` is written as in notes: `choices[0].message`. `cut` is how many characters were left out."""

    depth: int
    path: str
    text: str
    cut: int = 0


def json_lines(value: object) -> list[JsonLine]:
    """One line for each value and each closing bracket; at most `MAX_LINES`."""
    found: list[JsonLine] = []
    for line in _lines(value, "", "", 0, ""):
        if len(found) == MAX_LINES:
            found.append(JsonLine(0, "", "… more lines were left out"))
            break
        found.append(line)
    return found


def _lines(value: object, path: str, label: str, depth: int, comma: str) -> Iterator[JsonLine]:
    is_object = isinstance(value, dict)
    if not (is_object or isinstance(value, list)) or not value or depth >= MAX_DEPTH:
        yield _leaf(value, path, label, depth, comma)
        return
    assert isinstance(value, (dict, list))
    opening, closing = ("{", "}") if is_object else ("[", "]")
    yield JsonLine(depth, path, label + opening)
    children = list(value.items() if isinstance(value, dict) else enumerate(value))
    for number, (key, child) in enumerate(children):
        name = f"{_text(key)}: " if is_object else ""
        yield from _lines(child, child_path(path, key), name, depth + 1, "," if number + 1 < len(children) else "")
    yield JsonLine(depth, path, closing + comma)


def _leaf(value: object, path: str, label: str, depth: int, comma: str) -> JsonLine:
    if isinstance(value, str) and len(value) > MAX_STRING:
        return JsonLine(depth, path, label + _text(value[:MAX_STRING]) + "…" + comma, len(value) - MAX_STRING)
    text = _text(value)
    cut = max(0, len(text) - 2 * MAX_STRING)
    return JsonLine(depth, path, label + (text[: 2 * MAX_STRING] + "…" if cut else text) + comma, cut)


def _text(value: object) -> str:
    return dumps(value).decode("utf-8", "replace")


def child_path(path: str, key: str | int) -> str:
    """The path of a member or an item. Thousands of lines may stand at a place with a very long name."""
    if len(path) > MAX_PATH:
        return path
    if isinstance(key, int):
        return f"{path}[{key}]"
    return f"{path}.{key[:MAX_PATH]}" if path else key[:MAX_PATH]


def differences(before: Any, after: Any) -> tuple[set[str], set[str]]:
    """The paths that changed: those of `before` that are gone or other, and those of `after` that are new or other."""
    gone: set[str] = set()
    new: set[str] = set()
    waiting: list[tuple[Any, Any, str, int]] = [(before, after, "", 0)]
    while waiting and len(gone) + len(new) < MAX_DIFFERENCES:
        old, now, path, depth = waiting.pop()
        if depth < MAX_DEPTH and isinstance(old, dict) and isinstance(now, dict):
            gone.update(child_path(path, key) for key in old.keys() - now.keys())
            new.update(child_path(path, key) for key in now.keys() - old.keys())
            waiting += [(old[key], now[key], child_path(path, key), depth + 1) for key in old.keys() & now.keys()]
        elif depth < MAX_DEPTH and isinstance(old, list) and isinstance(now, list):
            shared = min(len(old), len(now))
            gone.update(child_path(path, index) for index in range(shared, len(old)))
            new.update(child_path(path, index) for index in range(shared, len(now)))
            waiting += [(old[index], now[index], child_path(path, index), depth + 1) for index in range(shared)]
        elif type(old) is not type(now) or old != now:
            gone.add(path)
            new.add(path)
    return gone, new
