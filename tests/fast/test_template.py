"""Chunks of our own, written by template."""

from __future__ import annotations

from typing import Any

from moongate.chat.items import Chunk
from moongate.fast.template import Template, hole_in

Row = dict[str, Any]


def test_templates_write_what_the_payload_is() -> None:
    def call(text: str, number: int) -> Row:
        return {"created": 0, "tool_calls": [{"index": number, "arguments": text}], "x": None}

    def content(text: str, number: int) -> Row:
        return {"created": 0, "content": text}

    for make in (call, content):
        template = Template(make)
        for text, number in (("a", 0), ('"\n\\', 3), ("é\u2028", 10), ("\ud83d", 123)):
            assert template.write(text, number) == Chunk.of(make(text, number)).encode()


def test_a_hole_does_not_occur_in_the_payload() -> None:
    hole = hole_in({})
    longer = hole_in({"id": hole})
    assert longer != hole
    assert longer not in hole
