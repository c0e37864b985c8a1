"""K3's grammar (XTML, section 5.8), spoken in the same pieces as K2's.

    <|open|>think<|sep|>Hm.<|close|>think<|sep|><|open|>response<|sep|>Hi.<|close|>response<|sep|>
    <|open|>tools<|sep|><|open|>call tool="bash" index="1"<|sep|><|open|>argument key="command" type="string"<|sep|>ls
    <|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|>

Bodies are not escaped: only their own closing tag ends them. What is not a tag that we know is text.
"""

from __future__ import annotations

import re
from typing import Final

from moongate.kimi.k3_call import K3Call
from moongate.kimi.k3_run import behind_repeats, read_children, read_empty_calls
from moongate.kimi.k3_tags import (
    CHANNELS,
    CHILDREN,
    IN_BODY,
    IN_TAG,
    MAX_TAG_CHARS,
    NAMES,
    OUTSIDE,
    TEXTS,
    Token,
    attributes,
    may_be_tag,
    tag_name,
)
from moongate.kimi.lanes import Lanes
from moongate.kimi.offer import Offer
from moongate.kimi.pieces import Channel, Dropped, Piece, Text
from moongate.kimi.visible import FORBIDDEN, NAMELESS, Visible

OPEN, CLOSE, SEP, END = Token  # to look a member up in its class is slow

_OPEN_TEXT: Final = TEXTS[Token.OPEN]
_DONE: Final = -1  # instead of a position: all was read


class K3Parser(Lanes):
    """One choice of a K3 model's answer (`pieces.Parser`)."""

    __slots__ = ()

    def __init__(self, offer: Offer, repair_arguments: bool) -> None:
        super().__init__(
            K3Lane("content", offer, repair_arguments),
            K3Lane("reasoning", offer, repair_arguments),
        )


class K3Lane:
    """One field of one choice."""

    __slots__ = (
        *("_body", "_call", "_data", "_element", "_home", "_mend", "_offer", "_pending", "_resume", "_since"),
        *("_stuck", "_tag", "_visible", "calling"),
    )

    def __init__(self, home: Channel, offer: Offer, mend: bool) -> None:
        self._home: Channel = home
        self._offer = offer
        self._mend = mend
        self._visible = Visible(home)
        self._call: K3Call | None = None
        self.calling = False
        self._body = ""  # the element whose body we are in: argument or json
        self._element = ""  # the channel that was opened last, if it is still open
        self._tag: Token | None = None  # we are behind <|open|> or <|close|>
        self._data = ""
        self._pending = ""  # read again with the next text: what may become a token, or a whole tag
        self._resume = 0  # where to look on in it
        self._stuck = _DONE  # what begins here is no empty call: it was looked at
        self._since = 0  # where the tag begins, behind its token

    @property
    def idle(self) -> bool:
        return (
            self._call is None
            and self._tag is None
            and not self._pending
            and self._visible.channel == self._home
            and self._visible.flows
        )

    def feed(self, text: str) -> list[Piece]:
        if not self._pending and self._tag is None and "<" not in text:  # no token here
            if self._call is None and self._visible.flows:
                return [Text(self._visible.channel, text)] if text else []
            self._say(text)
            return self._visible.take()
        self._data = self._pending + text
        self._run(final=False)
        return self._visible.take()

    def close(self) -> list[Piece]:
        self._data = self._pending
        self._run(final=True)
        return self._visible.take()

    def _run(self, final: bool) -> None:
        pos, self._resume, self._pending, self._since, self._stuck = self._resume, 0, "", 0, _DONE
        while pos != _DONE:
            lexer = IN_TAG if self._tag is not None else IN_BODY if self._body else OUTSIDE
            match = lexer.find(self._data, pos, final)
            stop = lexer.held(self._data, pos) if match is None else match.start()
            token = None if match is None else lexer.kind(match)
            if self._tag is not None:
                pos = self._in_tag(self._tag, stop, match, token, final)
            else:
                pos = self._in_text(pos, stop, match, token, final)

    def _in_text(self, pos: int, stop: int, match: re.Match[str] | None, token: Token | None, final: bool) -> int:
        data = self._data
        if stop > pos:
            self._say(data[pos:stop])
        if match is None or token is None:
            if final:
                self._end_of_text(data[stop:])
            else:
                self._pending = data[stop:]
            return _DONE
        if token is END:
            self._end_call()
            self._drop(match[1])
            return match.end()
        end = self._read_run(stop) if token is OPEN and not self._body and stop != self._stuck else stop
        if end > stop:
            return end
        self._tag = token
        self._since = match.end()
        return match.end()

    def _read_run(self, at: int) -> int:
        """What is all there is read in one go: where it ends."""
        if self._call is not None:
            end = read_children(self._data, at, self._call)
            if end > at:
                return end
        if not self._offer.calls_allowed:
            return at
        end, calls = read_empty_calls(self._data, at)
        if calls:
            self._end_call()
            self._visible.calls(calls)
            self._stuck = end
        return end

    def _in_tag(self, tag: Token, stop: int, match: re.Match[str] | None, token: Token | None, final: bool) -> int:
        data, since = self._data, self._since
        text = data[since:stop]
        if len(text) <= MAX_TAG_CHARS and self._may_be_tag(text, tag):
            if match is None:
                if final:
                    self._end_in_tag(tag, text, data[stop:])
                else:
                    self._pending = data[since:]
                    self._resume = stop - since
                return _DONE
            if token is SEP and self._read_tag(tag, text):
                self._tag = None
                repeats = tag_name(text) in CHANNELS
                return behind_repeats(data, match.end(), TEXTS[tag] + text + TEXTS[SEP]) if repeats else match.end()
        self._tag = None
        self._say(TEXTS[tag])  # it was text, and what follows is read as such
        return since

    def _may_be_tag(self, text: str, tag: Token) -> bool:
        if not self._body:
            return may_be_tag(text, tag)
        return self._body.startswith(text.strip()) and may_be_tag(text, tag)

    def _read_tag(self, tag: Token, text: str) -> bool:
        """What a tag does. False: it is none here."""
        name = tag_name(text)
        if name not in NAMES or (self._body and name != self._body):
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
        if name == "call":
            self._begin_call(text)
            return True
        self._drop(TEXTS[tag] + name)
        self._element = name
        if name == "tools":
            self._visible.after()
        elif name != "message":
            self._visible.turn("reasoning" if name == "think" else "content")
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
            self._element = ""
            if name in ("think", "response"):
                self._visible.turn("content")

    def _begin_call(self, text: str) -> None:
        name = attributes(text).get("tool", "").strip()
        allowed = self._offer.calls_allowed
        self._visible.after()
        if not (name and allowed):
            self._visible.add(Dropped(_OPEN_TEXT + text, NAMELESS if allowed else FORBIDDEN))
            name = ""
        self._call = K3Call(name, self._visible, self._mend)
        self.calling = bool(name)

    def _end_call(self) -> None:
        if self._call is not None:
            self._call.end()
            self._call = None
            self.calling = False
            self._visible.after()

    def _end_in_tag(self, tag: Token, text: str, piece: str) -> None:
        """The text ends inside a tag. A closing tag counts if it closes something."""
        self._tag = None
        name = tag_name(text)
        if tag is CLOSE and (self._call is not None or self._closes(name)):
            self._close_element(self._body or name)
            self._end_of_text("")
        elif self._call is not None:
            self._cut(self._call)
        else:
            self._say(TEXTS[tag] + text + piece)

    def _closes(self, name: str) -> bool:
        """What was opened here, or what content may have started inside of."""
        if self._element and self._element.startswith(name):
            return True
        return self._home == "content" and name in ("response", "message")

    def _end_of_text(self, piece: str) -> None:
        if self._call is None:
            self._say(piece)
        elif self._body or (len(piece) > len("<|") and _OPEN_TEXT.startswith(piece)):
            self._cut(self._call)
        else:
            self._end_call()

    def _cut(self, call: K3Call) -> None:
        call.cut()
        self._call = None
        self.calling = False
        self._body = ""

    def _say(self, text: str) -> None:
        if self._call is not None and self._body:
            self._call.feed(text)
        elif text:
            self._visible.say(text)

    def _drop(self, markup: str) -> None:
        self._visible.drop(markup, markup)
        self._visible.pause()
