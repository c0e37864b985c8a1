"""Property tests of `lexer`; `test_lexer` has the examples."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.length import examples

from moongate.kimi.markers.lexer import Lexer


def whole(texts: list[str], data: str) -> list[str]:
    return re.findall("|".join(re.escape(text) for text in sorted(texts, key=len, reverse=True)), data)


def piecewise(lexer: Lexer[str], pieces: list[str]) -> list[str]:
    kinds, pending = [], ""
    for number, piece in enumerate([*pieces, ""]):
        data, pos, final = pending + piece, 0, number == len(pieces)
        while (match := lexer.find(data, pos, final)) is not None:
            kinds.append(lexer.kind(match))
            pos = match.end()
        pending = data[lexer.partial_start(data, pos) :]
    return kinds


@settings(max_examples=examples(300), deadline=None, derandomize=True)
@given(
    st.lists(st.text("ab<", min_size=1, max_size=4), min_size=1, max_size=4, unique=True),
    st.lists(st.text("ab<", max_size=5), max_size=8),
)
def test_every_cut_finds_the_same(texts: list[str], pieces: list[str]) -> None:
    lexer = Lexer({text: text for text in texts})
    assert piecewise(lexer, pieces) == whole(texts, "".join(pieces))
