"""The text of a provider's error page: HTML without its tags and without what a browser does not show. Pure."""

from __future__ import annotations

import re
from typing import Final

# A tag ends before the next `<`: a page of `<` alone is then read once, not once per `<`.
_HIDDEN: Final = re.compile(r"<(/?)(script|style|head|template)\b[^<>]*>", re.I)
# The quotes of an attribute may hold a `>`.
TAG: Final = re.compile(r"""<(?:[^<>"']*+(?:"[^"<]*+"[^<>"']*+|'[^'<]*+'[^<>"']*+)*+>|[^<>]*>)""")
_COMMENT: Final = "<!--"
_COMMENT_END: Final = "-->"


def page_text(page: str) -> str:
    """The visible text, with single spaces. Linear in the size of the page."""
    return " ".join(TAG.sub(" ", without_hidden(page)).split())


def without_hidden(page: str) -> str:
    """The page without comments and without the elements whose content is not shown."""
    return _without_elements(_without_comments(page))


def _without_comments(page: str) -> str:
    """A comment without an end hides nothing: the page was cut."""
    parts: list[str] = []
    at = 0
    while (start := page.find(_COMMENT, at)) >= 0:
        end = page.find(_COMMENT_END, start + len(_COMMENT))
        if end < 0:
            break
        parts.append(page[at:start])
        at = end + len(_COMMENT_END)
    parts.append(page[at:])
    return "".join(parts)


def _without_elements(page: str) -> str:
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
