"""What K3's tags do: they open and close channels and calls (section 5.8)."""

from __future__ import annotations

from typing import Final

from moongate.kimi.markers.k3_call import K3Call
from moongate.kimi.markers.k3_tags import (
    CHILDREN,
    CLOSE,
    CLOSED,
    NAMES,
    OPEN,
    SEP,
    TEXTS,
    TOOLS_AND_CALL,
    Token,
    attributes,
    tag_name,
)
from moongate.kimi.markers.piece_builder import FORBIDDEN, NAMELESS, PieceBuilder
from moongate.kimi.markers.pieces import Dropped
from moongate.kimi.tool_set import ToolSet

OPEN_TEXT: Final = TEXTS[OPEN]


class K3Elements:
    """The call that is open, and the pieces that elements become."""

    __slots__ = ("_body", "_builder", "_call", "_repair", "_tool_set", "in_call")

    def __init__(self, tool_set: ToolSet, repair: bool) -> None:
        self._tool_set = tool_set
        self._repair = repair
        self._builder = PieceBuilder("content")
        self._call: K3Call | None = None
        self.in_call = False
        self._body = ""  # the element whose body is being read: argument or json

    def _feed_text(self, text: str) -> None:
        if self._call is not None and self._body:
            self._call.feed(text)
        elif text:
            self._builder.text(text)

    def _apply_tag(self, tag: Token, text: str) -> bool:
        """Apply a tag. Returns False if it is not a tag here."""
        name = tag_name(text)
        if name not in NAMES[tag] or (self._body and name != self._body):
            return False
        if tag is CLOSE:
            self._close_element(name)
            return True
        if name in CHILDREN:
            if self._call is None:
                return False
            self._call.open(name, attributes(text))
            self._body = name
            return True
        self._end_call()
        self._builder.block_field = self._builder.field
        if name in ("call", TOOLS_AND_CALL):
            self._begin_call(text)
            return True
        self._drop(TEXTS[tag] + name)
        if name == "tools":
            self._builder.call_boundary()
        elif name != "message":
            self._builder.think(name == "think")
        return True

    def _close_element(self, name: str) -> None:
        if self._call is not None and name in CHILDREN:
            self._call.close()
            self._body = ""
        elif self._call is not None and name == "call":
            self._end_call()
        else:
            self._end_call()
            self._drop(TEXTS[CLOSE] + name)
            if name == "think" and self._builder.channel == "content":
                self._builder.close_tag()
            if name in ("think", "response"):
                self._builder.think(False)

    def _begin_call(self, text: str) -> None:
        name = attributes(text).get("tool", "").strip()
        allowed = self._tool_set.calls_allowed
        self._builder.call_boundary()
        if not (name and allowed):
            self._builder.add(Dropped(OPEN_TEXT + text, NAMELESS if allowed else FORBIDDEN))
            name = ""
        self._call = K3Call(name, self._builder, self._repair)
        self.in_call = bool(name)

    def _end_call(self) -> None:
        if self._call is not None:
            self._call.end()
            self._call = None
            self.in_call = False
            self._builder.call_boundary()

    def _end_in_closing_tag(self, text: str, partial_token: str) -> None:
        """The text ends inside a closing tag, which counts with whatever of its name came."""
        self._close_element(self._body or tag_name(text))
        self._end_of_text("" if TEXTS[SEP].startswith(partial_token) else partial_token)

    def _is_before_piece(self, text: str, piece: str) -> bool:
        """Whether the text ends with a closing tag without its whole name, then a piece of another token."""
        closes = self._call is not None or tag_name(text) in CLOSED
        return not (closes or TEXTS[SEP].startswith(piece))

    def _end_of_text(self, partial_token: str) -> None:
        if self._call is None:
            self._feed_text(partial_token)
        else:
            self._truncate(self._call)

    def _truncate(self, call: K3Call) -> None:
        call.truncate()
        self._call = None
        self.in_call = False
        self._body = ""

    def _drop(self, markup: str) -> None:
        self._builder.drop(markup, markup)
        self._builder.markup_boundary()
