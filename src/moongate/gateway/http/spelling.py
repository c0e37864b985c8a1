"""What a text says whatever its spelling: without escapes, tags, case, and all that is no letter or digit. Pure."""

from __future__ import annotations

import re
from typing import Final

ROUNDS: Final = 3  # of escapes inside of escapes
# A tag ends before the next `<`, as in `error_page`: linear in the text.
_TAG: Final = re.compile(r"<[^<>]*>")
_JSON_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_URL_ESCAPE: Final = re.compile(r"%([0-9a-fA-F]{2})")
_HTML_ESCAPE: Final = re.compile(r"&(?:#[xX]([0-9a-fA-F]{1,6})|#([0-9]{1,7})|(amp|lt|gt));?")
_NAMED: Final = {"amp": "&", "lt": "<", "gt": ">"}
_OTHER: Final = re.compile(r"[^0-9a-z]+")
# The same in one pattern, for `folded_positions`: a tag, an escape with the number of its character, a character.
_TOKEN: Final = re.compile(
    r"<[^<>]*>|\\{1,8}u([0-9a-fA-F]{4})|\\{1,8}[nrtbf\"/]|%(?:25){0,3}([0-9a-fA-F]{2})|"
    r"&(?:amp;){0,3}(?:#[xX]([0-9a-fA-F]{1,6})|#([0-9]{1,7}));?|(.)",
    re.DOTALL,
)


def fold(text: str) -> str:
    """The letters and digits of a text, in lower case.

    >>> fold("sk-<b>AB</b>\\\\u0063 %64")
    'skabcd'
    """
    for _ in range(ROUNDS):
        before = text
        if "<" in text:
            text = _TAG.sub("", text)
        if "\\" in text:
            text = _JSON_ESCAPE.sub(_json_character, text)
        if "%" in text:
            text = _URL_ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)
        if "&" in text:
            text = _HTML_ESCAPE.sub(_html_character, text)
        if text == before:
            break
    return _OTHER.sub("", text.lower())


def folded_positions(text: str) -> tuple[str, list[tuple[int, int]]]:
    """The folded text, and of each of its characters where it begins and ends. Slow: for a text of some kilobytes."""
    letters: list[str] = []
    positions: list[tuple[int, int]] = []
    for token in _TOKEN.finditer(text):
        json, url, hexadecimal, decimal, plain = token.groups()
        number = json or url or hexadecimal
        character: str | None
        if number is not None:
            character = _character(int(number, 16))
        else:
            character = plain if decimal is None else _character(int(decimal))
        for letter in _OTHER.sub("", (character or "").lower()):
            letters.append(letter)
            positions.append(token.span())
    return "".join(letters), positions


def _json_character(match: re.Match[str]) -> str:
    number, letter = match.groups()
    return chr(int(number, 16)) if number else "" if letter in "nrtbf" else letter


def _html_character(match: re.Match[str]) -> str:
    number, decimal, name = match.groups()
    return _NAMED[name] if name else _character(int(number, 16) if number else int(decimal))


def _character(code: int) -> str:
    return chr(code) if code < 0x110000 else ""
