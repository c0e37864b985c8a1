"""K3's tags: `<|open|>name k="v"<|sep|>` and `<|close|>name<|sep|>` (section 5.8)."""

from __future__ import annotations

import re
from enum import IntEnum
from typing import Final

from moongate.kimi.lexer import Lexer

MAX_TAG_CHARS: Final = 512  # past this it is prose, not a tag


class Token(IntEnum):
    OPEN = 0
    CLOSE = 1
    SEP = 2
    END = 3


TEXTS: Final = ("<|open|>", "<|close|>", "<|sep|>", "<|end_of_msg|>")  # by token

CHILDREN: Final = frozenset({"argument", "json"})  # of a call
CHANNELS: Final = frozenset({"think", "response", "tools", "message"})
NAMES: Final = CHANNELS | CHILDREN | {"call"}


def _begins_tag(names: frozenset[str]) -> str:
    """Holds behind `<|open|>` or `<|close|>` if a tag of these names stands there, or may while the text grows.

    What cannot be one is text, and there may be a lot of it: it is passed over without looking at each.
    """
    begun = "|".join(sorted({name[:end] for name in names for end in range(len(name))}, reverse=True))
    other = r"<\|(?:open|close|end_of_msg)\|>"
    return rf"(?=\s*+(?:(?:{'|'.join(sorted(names))})(?:[\s<]|\Z)|(?:{begun})(?:<[^<]*+)?\Z))(?![^<]*+{other})"


OUTSIDE: Final = Lexer(
    {TEXTS[token]: token for token in Token if token is not Token.SEP},
    runs=True,
    only=rf"(?:(?<=<\|end_of_msg\|>)|{_begins_tag(NAMES)})",
)
IN_TAG: Final = Lexer({TEXTS[token]: token for token in Token})
IN_BODY: Final = Lexer({"<|close|>": Token.CLOSE}, only=_begins_tag(CHILDREN))

_BEGINNINGS: Final = frozenset(name[:end] for name in NAMES for end in range(len(name) + 1))
_ATTRIBUTE: Final = re.compile(r"""([^\s="]+)\s*=\s*(?:"([^"]*)|([^\s"]+))""").finditer


def may_be_tag(text: str, token: Token) -> bool:
    """May this, behind `<|open|>` or `<|close|>`, still become a tag that we know?"""
    name, *rest = text.split(None, 1)[:2] or ("",)
    if token is Token.CLOSE and rest:
        return False
    return name in NAMES or (name in _BEGINNINGS and not rest and not text[-1:].isspace()) or not name


def tag_name(text: str) -> str:
    """The first word: of a tag, its name."""
    return (text.split(None, 1) or ("",))[0]


def attributes(text: str) -> dict[str, str]:
    """Of an opening tag. A value may lack its closing quote, or both."""
    return {found[1]: _plain(found[2] or found[3] or "") for found in _ATTRIBUTE(text)}


def _plain(value: str) -> str:
    return value.replace("&quot;", '"').replace("&amp;", "&")
