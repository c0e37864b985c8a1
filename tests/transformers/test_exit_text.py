from __future__ import annotations

import json

import pytest
from tests.transformers.answers import pieces

from moongate.transformers.exit_text import ExitText


def read(arguments: str, size: int) -> str:
    text = ExitText()
    return "".join(text.feed(piece) for piece in pieces(arguments, size)) + text.close() + text.close()


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize("text", ["", "Done.", 'a "quoted"\n\tline\\', "é 😀 \u2028", "x" * 300])
@pytest.mark.parametrize("ascii_only", [True, False])
def test_the_text_of_the_response(text: str, size: int, ascii_only: bool) -> None:
    assert read(json.dumps({"response": text}, ensure_ascii=ascii_only), size) == text


@pytest.mark.parametrize("size", [1, 5, 1000])
@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ('{"response": "cut', "cut"),
        ('{"response": "cut\\', "cut"),
        ('{"response": "cut\\ud83d', "cut"),
        ('{"response": "a\nb"}', "a\nb"),
        ('{"kind": "short", "response": "last"}', "last"),
        ('{"kind": "' + "x" * 99 + '", "response": "last"}', "last"),
        ('{"answer": "other"}', '{"answer": "other"}'),
        ('{"response": 7}', '{"response": 7}'),
        ("no JSON", "no JSON"),
        ("{}", ""),
        ("", ""),
    ],
)
def test_other_arguments_are_read_at_their_end(arguments: str, text: str, size: int) -> None:
    assert read(arguments, size) == text


def test_text_leaves_while_it_streams() -> None:
    text = ExitText()
    assert [text.feed(piece) for piece in ('{"response":', ' "He', "llo", '"}')] == ["", "He", "llo", ""]
