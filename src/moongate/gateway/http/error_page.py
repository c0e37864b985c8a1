"""The text of a provider's error page: HTML without its tags and without what a browser does not show. Pure."""

from __future__ import annotations

import re
from typing import Final

# A tag ends before the next `<`: a page of `<` alone is then read once, not once per `<`.
_HIDDEN: Final = re.compile(r"<(/?)(script|style|head)\b[^<>]*>", re.I)
_TAG: Final = re.compile(r"<[^<>]*>")


def page_text(page: str) -> str:
    """The visible text, with single spaces. Linear in the size of the page."""
    return " ".join(_TAG.sub(" ", _without_hidden(page)).split())


def _without_hidden(page: str) -> str:
    """The page without the elements whose content is not shown."""
    tags = list(_HIDDEN.finditer(page))
    last_end = {tag[2].lower(): tag.start() for tag in tags if tag[1]}
    parts: list[str] = []
    at, hidden = 0, ""  # hidden: the element whose content is skipped
    for tag in tags:
        name = tag[2].lower()
        if hidden:
            if not tag[1] or name != hidden:
                continue
            hidden = ""
        else:
            parts.append(page[at : tag.start()])
            # An element without an end hides nothing: the page was cut, and the rest may be its message.
            if not tag[1] and last_end.get(name, 0) > tag.start():
                hidden = name
        at = tag.end()
    parts.append(page[at:])
    return " ".join(parts)
