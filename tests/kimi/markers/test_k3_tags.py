"""K3's tags, damaged ones too."""

from __future__ import annotations

import pytest

from moongate.kimi.markers.k3_tags import Token, attributes, closed_before_piece, may_be_tag, tag_name, without_cut_sep


@pytest.mark.parametrize(
    "text", ["", " ", "t", "tool", "tools", "\ntools ", "call ", 'call tool="a <b> c', "argument key", "message x"]
)
def test_what_may_become_an_opening_tag(text: str) -> None:
    assert may_be_tag(text, Token.OPEN)


@pytest.mark.parametrize("text", ["x", "to end", "too ", "toolsx", "callx", " to begin a tag", "call\u200btool"])
def test_what_cannot_become_a_tag(text: str) -> None:
    assert not may_be_tag(text, Token.OPEN)
    assert not may_be_tag(text, Token.CLOSE)


def test_a_closing_tag_has_nothing_but_a_name() -> None:
    assert may_be_tag(" call ", Token.CLOSE)
    assert not may_be_tag("call x", Token.CLOSE)


def test_the_beginning_of_a_sep_is_not_part_of_a_name() -> None:
    assert without_cut_sep("think<|se") == "think"
    assert without_cut_sep("<") == ""
    assert without_cut_sep("think <b") == "think <b"
    assert without_cut_sep("think") == "think"


def test_tag_name() -> None:
    assert tag_name(' call tool="x"') == "call"
    assert tag_name(" ") == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('call tool="bash" index="1"', {"tool": "bash", "index": "1"}),
        ('call tool = "a b"\nindex= "1" ', {"tool": "a b", "index": "1"}),
        ('call tool="a&amp;b&quot;c"', {"tool": 'a&b"c'}),
        ('call tool="&amp;quot;"', {"tool": "&quot;"}),
        ('call tool="bash', {"tool": "bash"}),
        ('call tool=""', {"tool": ""}),
        ("call tool=bash index=1", {"tool": "bash", "index": "1"}),
        ("call tool= ", {}),
        ("call tool", {}),
        ("call", {}),
    ],
)
def test_attributes(text: str, expected: dict[str, str]) -> None:
    assert attributes(text) == expected


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("think<|clo", "think"),
        (" toolsmessage <", "toolsmessage"),
        ("thi<|clo", ""),
        ("think<b", ""),
        ("think", ""),
        ("think<|se<|op", ""),
    ],
)
def test_a_closing_tag_before_the_beginning_of_a_token(text: str, name: str) -> None:
    assert closed_before_piece(text) == name
