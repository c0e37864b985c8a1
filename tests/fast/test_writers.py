"""How the fronts write text that did not become items."""

from __future__ import annotations

import json
from typing import Any

import pytest

from moongate.chat.contracts import Dialect
from moongate.chat.items import Chunk, Item
from moongate.dialects.fronts import CHAT, MESSAGES, RESPONSES
from moongate.errors import GatewayError
from moongate.fast.envelope import ChunkEnvelope, EnvelopeLearner
from moongate.fast.rewriter import PayloadChunk
from moongate.fast.writers import TextWriter, writer_of

Row = dict[str, Any]
BLOCKS: list[Dialect] = [MESSAGES, RESPONSES]


def payload(text: str, field: str = "content", choice: int = 0) -> Row:
    return {"id": "c", "choices": [{"index": choice, "delta": {field: text}, "finish_reason": None}]}


def envelope(field: str = "content", choice: int = 0) -> ChunkEnvelope:
    body = payload("a", field, choice)
    found = EnvelopeLearner().learn(Chunk(body, Chunk.of(body).encode()))
    assert found is not None
    return found


CONTENT, REASONING, SECOND = envelope(), envelope("reasoning"), envelope(choice=1)


def writer(front: Dialect) -> TextWriter:
    found = writer_of(front.encoder({"model": "m", "input": "", "messages": []}))
    assert found is not None
    return found


def deltas(out: bytes) -> list[str]:
    events = [json.loads(line[6:]) for line in out.splitlines() if line.startswith(b"data: ")]
    texts = [each.get("delta") for each in events if each["type"].endswith("delta")]
    return [
        text if isinstance(text, str) else next(value for key, value in text.items() if key != "type") for text in texts
    ]


def test_chat_text_leaves_as_it_came() -> None:
    chat = writer(CHAT)
    assert chat.write(CONTENT, b"raw", b"text") == chat.write_value(CONTENT, b"raw", "text") == b"raw"
    assert chat.is_open(CONTENT)
    assert chat.is_open(SECOND)
    assert chat.write_text is None
    made = [PayloadChunk({"a": 1}), PayloadChunk({"b": 2})]
    assert chat.rewrite(made[:1]) == b'data: {"a":1}\n\n'
    assert chat.rewrite(made) == b'data: {"a":1}\n\ndata: {"b":2}\n\n'
    assert chat.rewrite([]) == b""


@pytest.mark.parametrize("front", BLOCKS)
def test_text_goes_on_in_the_open_block_or_begins_one(front: Dialect) -> None:
    found = writer(front)
    assert not found.is_open(CONTENT)
    assert deltas(found.write(CONTENT, b"", b"a\\n")) == ["a\n"]
    assert found.is_open(CONTENT)
    assert not found.is_open(REASONING)
    assert deltas(found.write(CONTENT, b"", b"b\\n")) == ["b\n"]
    assert found.write_text is not None
    assert deltas(found.write_text(b"c\\n")) == ["c\n"]
    assert deltas(found.write(REASONING, b"", b"d"))[-1] == "d"
    assert found.is_open(REASONING)


@pytest.mark.parametrize("front", BLOCKS)
def test_other_choices_and_empty_texts_are_not_written(front: Dialect) -> None:
    found = writer(front)
    assert found.write(SECOND, b"", b"a") == found.write(CONTENT, b"", b"") == b""
    found.write(CONTENT, b"", b"a")
    assert not found.is_open(SECOND)


@pytest.mark.parametrize("front", BLOCKS)
def test_chunks_of_our_own_are_read_by_the_encoder(front: Dialect) -> None:
    found = writer(front)
    assert deltas(found.rewrite([PayloadChunk(payload("a"))])) == ["a"]
    assert deltas(found.rewrite([PayloadChunk(payload("b")), PayloadChunk(payload("c"))])) == ["b", "c"]
    assert found.rewrite([]) == b""


def test_encoders_of_other_people_have_no_writer() -> None:
    class Own:
        failure: GatewayError | None = None

        def feed(self, item: Item) -> bytes:
            return b""

        def close(self) -> bytes:
            return b""

    assert writer_of(Own()) is None
