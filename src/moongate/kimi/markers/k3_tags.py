"""K3's tags: `<|open|>name k="v"<|sep|>` and `<|close|>name<|sep|>` (section 5.8)."""

from __future__ import annotations

import re
from enum import IntEnum
from typing import Final

from moongate.kimi.markers.lexer import Lexer

MAX_TAG_CHARS: Final = 512  # a longer text is prose, not a tag


class Token(IntEnum):
    OPEN = 0
    CLOSE = 1
    SEP = 2
    END = 3


OPEN, CLOSE, SEP, END = Token  # aliases: looking a member up in its class is slow

TEXTS: Final = ("<|open|>", "<|close|>", "<|sep|>", "<|end_of_msg|>")  # by token

CHILDREN: Final = frozenset({"argument", "json"})  # of a call
CHANNELS: Final = frozenset({"think", "response", "tools", "message"})
TOOLS_AND_CALL: Final = "toolscall"  # both are opened, in one tag
TOOLS_AND_MESSAGE: Final = "toolsmessage"  # both are closed, in one tag
OPENED: Final = CHANNELS | CHILDREN | {"call", TOOLS_AND_CALL}
CLOSED: Final = CHANNELS | CHILDREN | {"call", TOOLS_AND_MESSAGE}
NAMES: Final = {OPEN: OPENED, CLOSE: CLOSED}  # the tags that there are


_CUT_SEP: Final = r"<(?:\|(?:s(?:e(?:p\|?)?)?)?)?"  # the beginning of `<|sep|>`


def _begins_tag(names: frozenset[str]) -> str:
    """A lookahead behind `<|open|>` or `<|close|>`: one of these tags follows, or may follow as the text grows.

    Tokens that cannot begin a tag are text; the lexer skips them without a match for each.
    """
    return rf"(?=\s*+(?:(?:{'|'.join(sorted(names))})(?:[\s<]|\Z)|{_begun(names)}(?:{_CUT_SEP})?(?:<[^<]*+)?\Z))"


def _begun(names: frozenset[str]) -> str:
    """What one of these names may begin with, or nothing."""
    return "(?:" + "|".join(sorted({name[:end] for name in names for end in range(len(name))}, reverse=True)) + ")"


_TOKEN: Final = r"<\|(?:open|close|end_of_msg)\|>"
_CUT_BY_END: Final = rf"(?=[^<]{{0,{MAX_TAG_CHARS}}}+<\|end_of_msg\|>)"  # the tag goes on behind it
# An opening tag ends with `<|sep|>`.
_OPENS: Final = rf"(?<=<\|open\|>)(?:{_begins_tag(OPENED)}(?![^<]*+{_TOKEN})|{_CUT_BY_END})"
_CUT_CLOSE: Final = rf"\s*+{_begun(CLOSED)}(?:{_CUT_SEP})?{_TOKEN}"
_CLOSES: Final = rf"(?<=<\|close\|>)(?:{_begins_tag(CLOSED)}(?!\s*+<\|sep\|>)|(?={_CUT_CLOSE}))"

OUTSIDE: Final = Lexer(
    {TEXTS[token]: token for token in Token if token is not Token.SEP},
    merge_repeats=True,
    lookahead=rf"(?:(?<=<\|end_of_msg\|>)|{_OPENS}|{_CLOSES})",
)
IN_TAG: Final = Lexer({TEXTS[token]: token for token in Token})
IN_BODY: Final = Lexer({"<|close|>": Token.CLOSE}, lookahead=_begins_tag(CHILDREN))

_NAME_PREFIXES: Final = {
    token: frozenset(name[:end] for name in names for end in range(len(name) + 1)) for token, names in NAMES.items()
}
_ATTRIBUTE: Final = re.compile(r"""([^\s="]+)\s*=\s*(?:"([^"]*)|([^\s"]+))""").finditer


def may_be_tag(text: str, token: Token) -> bool:
    """Whether this text behind `<|open|>` or `<|close|>` is, or may still become, a known tag."""
    name, *rest = text.split(None, 1)[:2] or ("",)
    if token is Token.CLOSE and rest:
        return False
    if not name or name in NAMES[token]:
        return True
    return name in _NAME_PREFIXES[token] and not rest and not text[-1:].isspace()


def without_cut_sep(text: str) -> str:
    """The text of a closing tag without the beginning of a `<|sep|>`."""
    at = text.rfind("<")
    return text[:at] if at >= 0 and TEXTS[Token.SEP].startswith(text[at:]) else text


def closed_before_piece(text: str) -> str:
    """The name in the text of a closing tag that ends with the beginning of another token; nothing if it does not."""
    name, _, piece = text.rpartition("<")
    name = name.strip()
    return name if name in CLOSED and any(each.startswith("<" + piece) for each in TEXTS) else ""


def tag_name(text: str) -> str:
    """The first word of a tag."""
    return (text.split(None, 1) or ("",))[0]


def attributes(text: str) -> dict[str, str]:
    """The attributes of an opening tag. A value may lack its closing quote, or both quotes."""
    return {found[1]: _unescape(found[2] or found[3] or "") for found in _ATTRIBUTE(text)}


def _unescape(value: str) -> str:
    return value.replace("&quot;", '"').replace("&amp;", "&")
