"""Regular expressions are read as all engines read them, or not at all."""

from __future__ import annotations

import pytest

from moongate.kimi.guard.pattern_syntax import (
    CLASSES,
    MAX_CHARS,
    MAX_GROUPS,
    Chars,
    Choice,
    Node,
    Place,
    Repeat,
    Series,
    Unreadable,
    read,
)


def chars(*ranges: str) -> Chars:
    return Chars(tuple((ord(each[0]), ord(each[-1])) for each in ranges))


A, B = chars("a"), chars("b")

READ: list[tuple[str, Node]] = [
    ("", Series(())),
    ("ab", Series((A, B))),
    ("a|b", Choice((Series((A,)), Series((B,))))),
    ("^a$", Series((Place("start"), A, Place("end")))),
    (r"\ba\B", Series((Place("edge"), A, Place("no edge")))),
    ("(a)(?:b)(?<n>a)(?P<m>b)", Series((Series((A,)), Series((B,)), Series((A,)), Series((B,))))),
    ("a*b+?a?b{2}a{2,}?b{1,3}", Series(tuple(
        Repeat(part, least, most)
        for part, least, most in ((A, 0, None), (B, 1, None), (A, 0, 1), (B, 2, 2), (A, 2, None), (B, 1, 3))
    ))),
    (".", Series((Chars(((10, 10), (13, 13), (0x2028, 0x2029)), negated=True),))),
    (r"\d\W", Series((Chars(CLASSES["d"]), Chars(CLASSES["w"], negated=True)))),
    (r"\x61\u0062\u{62}\.\/\n\t\-", Series((A, B, B, chars("."), chars("/"), chars("\n"), chars("\t"), chars("-")))),
    ("{a}", Series((chars("{"), A, chars("}")))),
    ("a{x]", Series((A, chars("{"), chars("x"), chars("]")))),
    ("[ab-d-]", Series((chars("-", "a", "bd"),))),
    (r"[^\d_\]\b]", Series((Chars(((8, 8), *CLASSES["d"], (93, 93), (95, 95)), negated=True),))),
    ("[f-ha-cb-gzz]", Series((chars("ah", "z"),))),
    ("[-a]", Series((chars("-", "a"),))),
    (r"[\x61-\x62]", Series((chars("ab"),))),
]  # fmt: skip


@pytest.mark.parametrize(("text", "node"), READ, ids=lambda each: str(each)[:40])
def test_it_is_read(text: str, node: Node) -> None:
    assert read(text)[0] == node


def test_kinds_of_characters() -> None:
    assert read(r"a[b]\.")[1] == frozenset()
    assert read(r"\D[\s\w]")[1] == {"d", "s", "w"}
    assert read(r"\b")[1] == {"w"}


@pytest.mark.parametrize(
    "text",
    [
        *("(a", "a)", "[a", "[", "a**", "*", "+a", "a|?", "{2}", "a{2}{3}", "a++", "^*", r"\b+", "a{3,2}", "\\"),
        *("(?=a)", "(?!a)", "(?<=a)", "(?<!a)", "(?i)a", "(?>a)", "(?#a)", r"(a)\1", r"\k<a>", r"\p{L}", r"\A", r"\z"),
        *("[]", "[]a]", "[^]a]", "[b-a]", r"[a-\d]", r"[\d-z]", r"[\D]", r"[\q]", r"\x6", r"\c", "[a\\"),
        *("a" * (MAX_CHARS + 1), "(" * (MAX_GROUPS + 2)),
    ],
)
def test_it_is_not_read(text: str) -> None:
    with pytest.raises(Unreadable):
        read(text)
