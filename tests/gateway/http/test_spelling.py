from __future__ import annotations

import doctest

import pytest

from moongate.gateway.http import spelling
from moongate.gateway.http.spelling import fold, fold_widely, folded_positions, has_wide_spellings


@pytest.mark.parametrize(
    "text",
    [
        "sk-AbC012",
        "SK_abc.012",
        "sk-<b>abc</b>012",
        r"\u0073k-abc\u0030\n12",
        r"\\u0073k-abc\/0\"12",
        "%73k-abc%3012",
        "%2573k-abc%253012",
        "&#115;k-ab&#x63;012",
        "&amp;#115;k-abc012",
        "&lt;i&gt;sk&lt;/i&gt;-abc012",
        "s k\u200b-abc\n012",
        "s\u212a-abc012",
        r"\\\u0073k\\\\-abc\0\12",
        r"\u005cu0073k-abc012",
        "\\\0sk-abc\\u0000012",
    ],
)
def test_spellings_of_one_text(text: str) -> None:
    assert fold(text) == "skabc012"


@pytest.mark.parametrize(
    "text",
    [
        "sk-abc012",
        "sk-<!-- > -->abc012",
        "sk-<b title='>x'>abc</b>012",
        r"\x73k-abc\060\061\062",
        r"\\x73k-abc012",
        r"\u{73}k-\u{000061}bc\U00000030\n12",
        "%u0073k-abc012",
        "<![CDATA[sk-abc]]>012",
        "s\uff4b-ab\u24d2012",
        "sk-a\u0301bc012",
        "&lt;!-- x > --&gt;sk-abc012",
    ],
)
def test_rare_spellings_of_one_text(text: str) -> None:
    assert fold_widely(text) == "skabc012"
    assert has_wide_spellings(text) or text == "sk-abc012"


@pytest.mark.parametrize(
    "text",
    [
        "&#99999999;",
        "&#x110000;",
        "&#1114112;",
        "\\ud800",
        "\\xzz",
        "\\u{110000}",
        "\\400",
        "\\",
        "%",
        "%zz",
        "&",
        "<",
        "",
    ],
)
def test_odd_escapes_are_no_error(text: str) -> None:
    fold(text)
    fold_widely(text)
    folded_positions(text)


def test_the_positions_are_those_of_the_whole_escape() -> None:
    text = r"a<b>\u0062%63&#100;&#x65;F"
    letters, positions = folded_positions(text)
    assert letters == "abcdef"
    assert [text[start:end] for start, end in positions] == ["a", r"\u0062", "%63", "&#100;", "&#x65;", "F"]


def test_the_example_holds() -> None:
    assert doctest.testmod(spelling).failed == 0
