"""Estimates the tokens of a request without a tokenizer and its vocabulary.

The text is split as Kimi's tokenizer pre-splits it; the cost of each piece depends on its kind and length. The costs
were fitted to Kimi K2's vocabulary; docs/messages.md has the measured error.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Final

from moongate.payload import JsonObject, dumps_text

MAX_SAMPLE: Final = 128 * 1024  # characters; a longer text is estimated from a sample
_SLICES: Final = 32  # of a sample

# Fixed costs, in tokens
_IMAGE: Final = 1024  # roughly an image of screen size
_MESSAGE: Final = 4  # the special tokens around a message
_CALL: Final = 8  # the special tokens around a call
_TOOLS: Final = 16  # the special tokens around the tools

_HAN: Final = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_LETTER: Final = "A-Za-z\u00aa\u00b5\u00ba\u00c0-\u024f\u0370-\u1fff\u3040-\u318f\uac00-\ud7af"
_PIECE: Final = (
    rf"[{_HAN}]+"
    rf"|[^\r\n{_LETTER}{_HAN}0-9]?(?:[A-Z]*[^\W\d_A-Z{_HAN}]+|[A-Z]+)"
    rf"|[0-9]{{1,3}}"
    rf"| ?[^\s{_LETTER}{_HAN}0-9]+[\r\n]*"
    rf"|\s*[\r\n]+|\s+(?!\S)|\s+"
)

# kind of piece → tokens for its first character, tokens for each further one
_COSTS: Final = {
    "word": (0.68, 0.09),
    "joined": (0.88, 0.17),  # a word with a punctuation mark in front: ".join", "_name"
    "capitals": (1.52, 0.02),
    "accented": (4.44, 0.12),  # high, because the ASCII words around it cost more than the English ones of "word"
    "foreign": (2.22, 0.06),
    "syllables": (0.4, 0.75),  # kana, hangul
    "han": (1.29, 0.43),
    "number": (1.37, 0.0),
    "marks": (0.73, 0.22),
    "blanks": (0.88, 0.0),
}


def estimate(request: JsonObject) -> int:
    """The prompt tokens of a chat request: messages, calls, tools and images."""
    texts: list[str] = []
    fixed = 0
    for message in request["messages"]:
        fixed += _MESSAGE
        for text in _message_texts(message):
            if text is None:
                fixed += _IMAGE
            else:
                texts.append(text)
        fixed += _CALL * len(message.get("tool_calls", ()))
    for name in ("tools", "response_format"):
        if name in request:
            fixed += _TOOLS
            texts.append(dumps_text(request[name]))
    return fixed + round(text_tokens("\n".join(texts)))


def _message_texts(message: JsonObject) -> Iterator[str | None]:
    """The texts of a message; None stands for an image."""
    yield from _content_texts(message.get("content"))
    if "reasoning_content" in message:
        yield message["reasoning_content"]
    for call in message.get("tool_calls", ()):
        yield call["function"]["name"]
        yield call["function"]["arguments"]


def _content_texts(content: str | list[JsonObject] | None) -> Iterator[str | None]:
    if isinstance(content, str):
        yield content
    elif content is not None:
        for part in content:
            yield part["text"] if part["type"] == "text" else None


@cache
def _piece() -> re.Pattern[str]:
    """Compiled at the first use, because that takes longer than the import of everything else here."""
    return re.compile(_PIECE)


def text_tokens(text: str, max_sample: int = MAX_SAMPLE) -> float:
    """The estimated tokens of a text. The time is bounded: at most `max_sample` characters are examined."""
    if len(text) > max_sample:
        step, size = len(text) // _SLICES, max_sample // _SLICES
        sample = "".join(text[start : start + size] for start in range(0, step * _SLICES, step))
        return text_tokens(sample, max_sample) * len(text) / len(sample)
    total = 0.0
    for piece, count in Counter(_piece().findall(text)).items():
        kind, size = _kind(piece)
        first, further = _COSTS[kind]
        total += count * (first + further * (size - 1))
    return total


def _kind(piece: str) -> tuple[str, int]:
    """The kind of a piece, and how many of its characters count."""
    last, size = piece[-1], len(piece)
    if last.isdigit():
        return "number", size
    if "\u3400" <= last <= "\u9fff" or "\uf900" <= last <= "\ufaff":
        return "han", size
    if last.isalpha():
        return _word_kind(piece, size)
    return ("blanks" if piece.isspace() else "marks"), size


def _word_kind(piece: str, size: int) -> tuple[str, int]:
    bare = piece[0].isalpha()
    word = piece if bare else piece[1:]
    if not word.isascii():
        top = max(word)
        if "\u3040" <= top <= "\u318f" or "\uac00" <= top <= "\ud7af":
            return "syllables", size
        return ("foreign" if top > "\u024f" else "accented"), size
    if word.isupper() and len(word) > 1:
        return "capitals", size
    return ("word" if bare or piece[0] == " " else "joined"), len(word)
