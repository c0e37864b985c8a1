"""Markers that pass untouched are seen all the same: the caller is told once (`markers_seen`)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from moongate.kimi.options import ToolTokens

K3_TOKENS: Final = ("<|open|>", "<|close|>", "<|sep|>", "<|end_of_msg|>")


class MarkerWatch:
    """Looks for markers in the texts of one field, however they are cut."""

    __slots__ = ("_firsts", "_longest", "_tail", "_tokens")

    def __init__(self, tokens: tuple[str, ...]) -> None:
        self._tokens = tokens
        self._longest = max(map(len, tokens))
        self._firsts = {token[0] for token in tokens}
        self._tail = ""

    @property
    def pending(self) -> bool:
        """May the text so far end inside a marker?"""
        return bool(self._tail)

    def find(self, text: str) -> str | None:
        """The first marker that this text completes."""
        if not self._tail and not any(first in text for first in self._firsts):
            return None
        text = self._tail + text
        found = [token for token in self._tokens if token in text]
        if found:
            return min(found, key=text.index)
        tail = text[-self._longest + 1 :]
        starts = (at for at, char in enumerate(tail) if char in self._firsts)
        at = next((at for at in starts if any(token.startswith(tail[at:]) for token in self._tokens)), None)
        self._tail = "" if at is None else tail[at:]
        return None


def watched_tokens(family: str, tokens: ToolTokens) -> tuple[str, ...]:
    """The markers of a family."""
    if family == "k3":
        return K3_TOKENS
    return (
        tokens.section_begin,
        tokens.section_begin.replace("tool_calls_section", "tool_call_section"),
        tokens.section_end,
        tokens.call_begin,
        tokens.call_end,
        tokens.arg_begin,
    )


def gate_of(tokens: Iterable[str]) -> bytes | None:
    """Bytes one of which is in the JSON spelling of any text that has a piece of these markers or a tag in it.

    None if there are no such bytes, because a marker begins with a character that JSON may spell in several ways.
    """
    firsts = {"<", *(token[0] for token in tokens)}
    if any(not " " <= char <= "~" or char in '"\\/' for char in firsts):
        return None
    return "".join(sorted(firsts)).encode("ascii")
