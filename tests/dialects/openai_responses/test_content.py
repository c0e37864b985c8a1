from __future__ import annotations

from typing import Any

import pytest

from moongate.dialects.openai_responses.content import chat_content
from moongate.errors import BadRequest

IMAGE = {"type": "input_image", "image_url": "data:image/png;base64,aGk=", "detail": "auto"}
SHOWN = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (None, ""),
        ("a", "a"),
        ({"exit": 0}, '{"exit":0}'),
        ([], ""),
        ([{"type": "input_text", "text": "a"}, {"type": "output_text", "text": "b"}], "a\nb"),
        ([{"type": "text", "text": "a"}, {"type": "input_text", "text": ""}, {"type": "input_text"}], "a"),
        ([{"type": "refusal", "refusal": "no"}], "no"),
        ([{"type": "input_file", "filename": "a.pdf", "file_data": "J"}], "[a.pdf: its content cannot be read here]"),
        ([{"type": "input_file", "file_url": "u"}], "[u: its content cannot be read here]"),
        ([{"type": "input_file", "file_id": "f"}], "[f: its content cannot be read here]"),
        ([{"type": "input_file"}], "[a file: its content cannot be read here]"),
        (["a", 3], "a\n3"),
        ([{"type": "news", "x": 1}], '{"type":"news","x":1}'),
        ([{"type": "input_image", "file_id": "f"}], '{"type":"input_image","file_id":"f"}'),
        ([{"type": "input_text", "text": "a"}, IMAGE], [{"type": "text", "text": "a"}, SHOWN]),
        ([{**IMAGE, "detail": "low"}], [{"type": "image_url", "image_url": {**SHOWN["image_url"], "detail": "low"}}]),  # type: ignore[dict-item]
        ([SHOWN], [SHOWN]),
        ([{"type": "input_audio", "input_audio": {}}], [{"type": "input_audio", "input_audio": {}}]),
    ],
)
def test_content(content: Any, expected: Any) -> None:
    assert chat_content(content, "p") == expected


def test_invalid_content_is_rejected() -> None:
    with pytest.raises(BadRequest) as caught:
        chat_content(3, "input[0].content")
    assert caught.value.path == "input[0].content"


@pytest.mark.parametrize(("text", "content"), [("Hi", "Hi"), ("", ""), (1, ""), (None, "")])
def test_one_part_of_text(text: object, content: str) -> None:
    assert chat_content([{"type": "input_text", "text": text}], "input") == content
