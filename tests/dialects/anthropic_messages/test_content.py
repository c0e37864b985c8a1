from __future__ import annotations

from typing import Any

import pytest

from moongate.dialects.anthropic_messages.content import (
    blocks_of,
    is_billing,
    joined,
    only_text,
    part_of,
    parts_of,
    result_content,
    unknown_text,
)
from moongate.errors import BadRequest

TEXT = {"type": "text", "text": "a"}
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": "aGk="}}


def text(value: str) -> dict[str, str]:
    return {"type": "text", "text": value}


def image(url: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": url}}


def test_content_is_a_text_or_blocks() -> None:
    assert blocks_of("a", "p") == [TEXT]
    assert blocks_of(None, "p") == []
    assert blocks_of([TEXT], "p") == [TEXT]


@pytest.mark.parametrize(("content", "path"), [(7, "p"), ({"type": "text"}, "p"), ([TEXT, "b"], "p[1]")])
def test_other_content_is_rejected(content: Any, path: str) -> None:
    with pytest.raises(BadRequest) as caught:
        blocks_of(content, "p")
    assert caught.value.path == path


def test_billing_metadata_is_recognised() -> None:
    assert is_billing(text("x-anthropic-billing-header: cc_version=2;"))
    assert not is_billing(text("You are"))
    assert not is_billing({"type": "image"})


@pytest.mark.parametrize(
    ("block", "part"),
    [
        ({**TEXT, "cache_control": {"type": "ephemeral"}, "citations": None}, TEXT),
        (IMAGE, image("data:image/jpeg;base64,aGk=")),
        ({"type": "image", "source": {"data": "aGk="}}, image("data:image/png;base64,aGk=")),
        ({"type": "image", "source": {"type": "url", "url": "https://x/y.png"}}, image("https://x/y.png")),
        (
            {"type": "image", "source": {"type": "file", "file_id": "f1"}},
            text('{"type":"image","source":{"type":"file","file_id":"f1"}}'),
        ),
        ({"type": "image"}, text('{"type":"image"}')),
        (
            {"type": "document", "title": "T", "context": "C", "source": {"type": "text", "data": "body"}},
            text("T\nC\nbody"),
        ),
        ({"type": "document", "source": {"type": "content", "content": [TEXT, IMAGE, "x"]}}, text("a")),
        ({"type": "document", "source": {"type": "content", "content": "a"}}, text("a")),
        ({"type": "document", "title": "T", "source": {"type": "url", "url": "https://x"}}, text("T\nhttps://x")),
        (
            {
                "type": "document",
                "title": "T",
                "source": {"type": "base64", "media_type": "application/pdf", "data": "J"},
            },
            text("T\n[application/pdf: its content cannot be read here]"),
        ),
        ({"type": "document", "source": {"type": "file"}}, text("[a file: its content cannot be read here]")),
        ({"type": "document"}, text('{"type":"document"}')),
        (
            {"type": "search_result", "title": "T", "source": "https://x", "content": [TEXT]},
            text("T\nhttps://x\na"),
        ),
        ({"type": "tool_reference", "tool_name": "Bash"}, text("Tool Bash is available.")),
        ({"type": "tool_reference"}, text('{"type":"tool_reference"}')),
        ({"type": "news", "x": 1, "cache_control": {}}, text('{"type":"news","x":1}')),
        ({"type": "text", "text": 3}, text('{"type":"text","text":3}')),
    ],
)
def test_every_block_becomes_a_part(block: dict[str, Any], part: dict[str, Any]) -> None:
    assert part_of(block) == part


def test_empty_texts_are_left_out() -> None:
    assert parts_of([text(""), TEXT, IMAGE]) == [TEXT, image("data:image/jpeg;base64,aGk=")]


def test_texts_are_joined_and_images_kept_apart() -> None:
    assert joined([text("a"), text("b")]) == "a\nb"
    assert joined([]) == ""
    assert joined([TEXT, image("u")]) == [TEXT, image("u")]


def test_unknown_blocks_lose_their_cache_control() -> None:
    assert unknown_text({"type": "x", "cache_control": {"type": "ephemeral"}}) == '{"type":"x"}'


@pytest.mark.parametrize(
    ("block", "content"),
    [
        ({"content": "ok"}, "ok"),
        ({}, ""),
        ({"content": []}, ""),
        ({"content": [TEXT, text("b")]}, "a\nb"),
        ({"content": [TEXT, IMAGE]}, [TEXT, image("data:image/jpeg;base64,aGk=")]),
        ({"content": "no such file", "is_error": True}, "Error\nno such file"),
        ({"content": "<tool_use_error>no</tool_use_error>", "is_error": True}, "<tool_use_error>no</tool_use_error>"),
        ({"is_error": True}, "Error"),
        ({"content": [IMAGE], "is_error": True}, [text("Error"), image("data:image/jpeg;base64,aGk=")]),
        ({"content": "fine", "is_error": False}, "fine"),
    ],
)
def test_the_content_of_tool_results(block: dict[str, Any], content: Any) -> None:
    assert result_content(block, 0) == content


@pytest.mark.parametrize(
    ("blocks", "text"),
    [
        ([{"type": "text", "text": "Hi"}], "Hi"),
        ([{"type": "text", "text": 1}], None),
        ([{"type": "image", "text": "Hi"}], None),
        ([{"type": "text", "text": "Hi"}] * 2, None),
        ([], None),
    ],
)
def test_one_block_of_text(blocks: list[Any], text: str | None) -> None:
    assert only_text(blocks) == text
