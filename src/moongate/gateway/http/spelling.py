"""What a text says whatever its spelling: without escapes, tags, case, and all that is no letter or digit. Pure."""

from __future__ import annotations

import re
from itertools import product
from typing import Final
from unicodedata import normalize

from moongate.gateway.http.error_page import TAG, without_hidden

ROUNDS: Final = 3  # of escapes inside of escapes
# A tag ends before the next `<`, as in `error_page`: linear in the text.
_TAG: Final = re.compile(r"<[^<>]*>")
# Escapes of JSON in three steps, of which only the last one calls a function: most of a text may be backslashes.
_NO_CODE: Final = re.compile(r"\\(?:[nrtbf]|(?!u[0-9a-fA-F]{4}))")
_JSON_CODE: Final = re.compile(r"\\u([0-9a-fA-F]{4})")
_PAIR: Final = "\0"  # stands for an escaped backslash, which is none yet
# How other languages write characters: `\x61`, `\u{61}`, `\U00000061`, `\141`.
_CODE: Final = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u\{0*([0-9a-fA-F]{1,6})\}|U00([0-9a-fA-F]{6})|([0-3][0-7]{2}))")
_URL_ESCAPE: Final = re.compile(r"%([0-9a-fA-F]{2})")
_URL_CODE: Final = re.compile(r"%u([0-9a-fA-F]{4})")
_CDATA: Final = ("<![CDATA[", "]]>")
_COLOUR: Final = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")  # of a terminal
# Named characters are no letters and digits, apart from those that begin other escapes: they go.
_HTML_ESCAPE: Final = re.compile(r"&(?:#[xX]0*([0-9a-fA-F]{1,6})|#0*([0-9]{1,7})|(amp|lt|gt)|[A-Za-z]{2,32}(?=;));?")
_LATIN_1: Final = {
    f"{high}{low}": chr(int(high + low, 16)) for high, low in product("0123456789abcdefABCDEF", repeat=2)
}
_NAMED: Final = {"amp": "&", "lt": "<", "gt": ">"}
_OTHER: Final = re.compile(r"[^0-9A-Za-z]+")
# The same in one pattern, for `folded_positions`: a tag, an escape with the number of its character, a character.
_TOKEN: Final = re.compile(
    r"<[^<>]*>|\\{1,8}u([0-9a-fA-F]{4})|\\{1,8}[nrtbf\"/]|%(?:25){0,3}([0-9a-fA-F]{2})|"
    r"&(?:amp;){0,3}(?:#[xX]0*([0-9a-fA-F]{1,6})|#0*([0-9]{1,7})|[A-Za-z]{2,32}(?=;));?|(.)",
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
            text = _without_json_escapes(text)
        if "%" in text:
            text = _URL_ESCAPE.sub(_url_character, text)
        if "&" in text:
            text = _HTML_ESCAPE.sub(_html_character, text)
        if text == before:
            break
    return _folded(text)


def _folded(text: str) -> str:
    # Two other characters have a letter of ASCII as their lower case. Lower case is slow for what is not ASCII.
    return _OTHER.sub("", text.replace("\u212a", "k").replace("\u0130", "i")).lower()


def fold_widely(text: str) -> str:
    """The same where more counts as markup and escapes: comments, what a browser does not show, attributes with a `>`,
    the escapes of other languages; letters in another form, such as full width, are letters.

    >>> fold_widely("sk-<!-- > -->AB\\x63 \uff44")
    'skabcd'
    """
    text = _COLOUR.sub("", text)
    for _ in range(ROUNDS):
        before = text
        if "<" in text:
            for mark in _CDATA:
                text = text.replace(mark, "")
            text = TAG.sub("", without_hidden(text))
        if "\\" in text:
            text = _without_json_escapes(_CODE.sub(_code_character, text))
        if "%" in text:
            text = _URL_ESCAPE.sub(_url_character, _URL_CODE.sub(_json_character, text))
        if "&" in text:
            text = _HTML_ESCAPE.sub(_html_character, text)
        if text == before:
            break
    if not text.isascii():
        # One character at a time: to put many marks of one letter into their order takes time by their square.
        text = text.translate({ord(each): normalize("NFKC", each) for each in set(text) if each > "\x7f"})
    return _folded(text)


def has_wide_spellings(text: str) -> bool:
    """May `fold_widely` find more than `fold`?"""
    return not text.isascii() or any(mark in text for mark in "<\\%&\x1b")


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


def _without_json_escapes(text: str) -> str:
    text = _NO_CODE.sub("", text.replace(_PAIR, " ").replace("\\\\", _PAIR))
    return _JSON_CODE.sub(_json_character, text).replace(_PAIR, "\\")


def _json_character(match: re.Match[str]) -> str:
    character = chr(int(match[1], 16))
    return " " if character == _PAIR else character


def _code_character(match: re.Match[str]) -> str:
    octal = match[4]
    character = _character(int(octal, 8) if octal else int(match[1] or match[2] or match[3], 16))
    return " " if character == _PAIR else character


def _url_character(match: re.Match[str]) -> str:
    return _LATIN_1[match[1]]


def _html_character(match: re.Match[str]) -> str:
    number, decimal, name = match.groups()
    if number or decimal:
        return _character(int(number, 16) if number else int(decimal))
    return _NAMED[name] if name else ""


def _character(code: int) -> str:
    return chr(code) if code < 0x110000 else ""
