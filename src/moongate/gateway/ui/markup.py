"""HTML as values: what is not `Markup` is text and is escaped, so nothing that anybody sent can become an element.

Characters that would change how other text looks (controls, and marks that turn the direction of writing) are shown as
their code points.
"""

from __future__ import annotations

import re
from html import escape
from typing import Final

VOID: Final = frozenset({"br", "col", "hr", "img", "input", "link", "meta"})
# All controls but tab and line feed; directional marks, overrides and isolates; zero-width and other invisible ones.
_MISLEADING: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)


class Markup(str):
    """HTML that is finished."""

    __slots__ = ()


def visible(text: str) -> str:
    """The text with every misleading character as `\\u{…}`."""
    if text.isprintable():  # nothing that is misleading is; it is checked several times faster
        return text
    return _MISLEADING.sub(lambda found: f"\\u{{{ord(found[0]):x}}}", text)


def render(content: object) -> Markup:
    """HTML of a value: Markup as it is, lists item by item, None as nothing, the rest as text."""
    if isinstance(content, Markup):
        return content
    if content is None:
        return Markup()
    if isinstance(content, (list, tuple)):
        return Markup("".join(map(render, content)))
    return Markup(escape(visible(str(content)), quote=True))


def tag(element: str, /, *content: object, **attributes: object) -> Markup:
    """An element. `class_` and `for_` stand for class and for, `data_x` for data-x; True: no value; None: left out."""
    parts = [element]
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        word = key.rstrip("_").replace("_", "-")
        parts.append(word if value is True else f'{word}="{render(value)}"')
    head = f"<{' '.join(parts)}>"
    return Markup(head) if element in VOID else Markup(f"{head}{render(content)}</{element}>")


def document(*content: object) -> bytes:
    return f"<!doctype html>{render(content)}".encode("utf-8", "replace")
