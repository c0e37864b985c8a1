"""Rows of our own in the form of the vectors (`tests/cases/`): where clauses meet, and how they are read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests import test_vectors_reply, test_vectors_request, test_vectors_schema
from tests.support.assembly import assemble
from tests.support.vectors import check_notes, resplit, stream_bytes, transformer_of
from tests.test_vectors_stream import begin, check, pieces, run

from moongate import read_reply

CASES = Path(__file__).parent / "cases"


def cases(kind: str) -> list[Any]:
    lines = (CASES / f"{kind}.jsonl").read_text(encoding="utf-8").split("\n")
    return [pytest.param(row, id=row["id"]) for row in map(json.loads, filter(None, lines))]


@pytest.mark.parametrize("row", cases("request"))
def test_request(row: dict[str, Any]) -> None:
    test_vectors_request.test_request(row)


@pytest.mark.parametrize("row", cases("schema"))
def test_schema(row: dict[str, Any]) -> None:
    test_vectors_schema.test_schema(row)


@pytest.mark.parametrize("row", cases("reply"))
def test_reply(row: dict[str, Any]) -> None:
    test_vectors_reply.test_reply(row)


@pytest.mark.parametrize("row", cases("stream"))
def test_stream(row: dict[str, Any]) -> None:
    _, row = begin(row)
    data = stream_bytes(row)
    whole, exchange = run(row, [data])
    check(row["expect"], assemble(whole))
    check_notes(row["expect"], exchange.notes)
    assert not row["expect"].get("unchanged") or whole == data
    for size in (1, 7):
        assert run(row, pieces(data, size))[0] == whole
        if row.get("resplit"):
            check(row["expect"], assemble(run(row, [stream_bytes(row, resplit(row["events"], size))])[0]))


# In a stream calls leave as they arrive; in a whole answer native ones come first (section 5.7).
MARKERS_BEFORE_NATIVE = ("case-marker-first-", "case-interleaved-open-marker-", "case-marker-then-native-index-")


@pytest.mark.parametrize("row", [case for case in cases("stream") if "error" not in case.values[0]["expect"]])
def test_stream_once_and_whole(row: dict[str, Any]) -> None:
    """A second pass finds nothing to do, and the same bytes read as one document say the same."""
    _, row = begin(row)
    data = stream_bytes(row)
    streamed = assemble(run(row, [data])[0])
    again, _ = run({**row, "content_type": "text/event-stream"}, [run(row, [data])[0]])
    assert assemble(again).summary() == streamed.summary()
    if row["id"].startswith(MARKERS_BEFORE_NATIVE):
        return
    exchange = transformer_of(row).begin({**row["request"], "stream": False})
    body = read_reply(exchange, data, row.get("content_type", "text/event-stream"))
    assert body.get("usage") == streamed.usage
    assert [_summary(choice) for choice in body["choices"]] == streamed.summary()


def _summary(choice: dict[str, Any]) -> dict[str, Any]:
    message = choice["message"]
    return {
        "index": choice["index"],
        "content": message.get("content") or "",
        "reasoning": message.get("reasoning_content") or message.get("reasoning") or "",
        "tool_calls": [_call(call) for call in message.get("tool_calls") or ()],
        "finish_reason": choice["finish_reason"],
    }


def _call(call: dict[str, Any]) -> dict[str, Any]:
    if "custom" in call:
        return {"id": call["id"], "name": call["custom"]["name"], "arguments": call["custom"]["input"]}
    return {"id": call["id"], **call["function"]}
