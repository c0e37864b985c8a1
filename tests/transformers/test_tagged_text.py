from __future__ import annotations

import pytest
from tests.transformers.answers import pieces

from moongate.transformers.tagged_text import MAX_LEADING_BLANKS, TaggedText


def parted(text: str, size: int) -> tuple[str, str]:
    reader = TaggedText("think")
    found = [*(reader.feed(piece) for piece in pieces(text, size)), reader.close()]
    return "".join(each.reasoning for each in found), "".join(each.content for each in found)


@pytest.mark.parametrize("size", [1, 2, 3, 5, 1000])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", ("", "plain")),
        ("<think>a</think>b", ("a", "b")),
        ("\n <think>a</think>b", ("a", "b")),
        ("<think>a < b </thin </think>c</think>", ("a < b </thin ", "c</think>")),
        ("<think>cut", ("cut", "")),
        ("<think>cut</thi", ("cut</thi", "")),
        ("<thi", ("", "<thi")),
        ("<thirst>", ("", "<thirst>")),
        ("text <think>a</think>", ("", "text <think>a</think>")),
        (" " * MAX_LEADING_BLANKS + "<think>a</think>b", ("a", "b")),
        (" " * (MAX_LEADING_BLANKS + 1) + "<think>a", ("", " " * (MAX_LEADING_BLANKS + 1) + "<think>a")),
        ("  ", ("", "  ")),
        ("", ("", "")),
    ],
)
def test_however_it_is_cut(text: str, expected: tuple[str, str], size: int) -> None:
    assert parted(text, size) == expected
