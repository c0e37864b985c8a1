"""Chunks of our own, written by filling holes."""

from __future__ import annotations

from typing import Any

from moongate.chat.items import Chunk
from moongate.chat.template import Template, TemplateChunk, hole_in

Row = dict[str, Any]


def test_templates_write_what_the_payload_says() -> None:
    def call(text: str, number: int) -> Row:
        return {"created": 0, "tool_calls": [{"index": number, "arguments": text}], "x": None}

    def said(text: str, number: int) -> Row:
        return {"created": 0, "content": text}

    for make in (call, said):
        template = Template(make)
        for text, number in (("a", 0), ('"\n\\', 3), ("é\u2028", 10), ("\ud83d", 123)):
            made = TemplateChunk(template, text, number)
            assert made.raw is None
            assert made.encode() == Chunk.of(make(text, number)).encode()
            assert made.payload == make(text, number)


def test_a_hole_stands_nowhere_in_the_envelope() -> None:
    hole = hole_in({})
    longer = hole_in({"id": hole})
    assert longer != hole
    assert longer not in hole
