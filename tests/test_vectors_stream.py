"""The streams of `tests/vectors/stream.jsonl`: whole, at fixed sizes, at every cut, and split anew."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.support.assembly import AssembledStream, assemble, check_call_deltas
from tests.support.length import FULL
from tests.support.vectors import (
    answer_form,
    check_notes,
    check_verdict,
    event_text,
    resplit,
    rows,
    sent_names,
    stream_bytes,
    transformer_of,
    with_sent_names,
)

from moongate import Session
from moongate.kimi.exchange import KimiExchange

Row = dict[str, Any]

EVERY_CUT_BELOW = 5000 if FULL else 0  # bytes of a stream; a longer one is cut at some places only
SOME_CUTS = 40


def begin(row: Row) -> tuple[KimiExchange, Row]:
    exchange = transformer_of(row).begin_unguarded(row["request"])
    if "events" in row:
        row = {**row, "events": with_sent_names(row["events"], sent_names(row, exchange.request))}
    return exchange, row


def run(row: Row, cuts: list[bytes]) -> tuple[bytes, KimiExchange]:
    exchange, _ = begin(row)
    session = Session(exchange, row.get("content_type", "text/event-stream"))
    return b"".join([*(session.feed(part) for part in cuts), session.close()]), exchange


def pieces(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


def cuts_of(data: bytes) -> Iterator[list[bytes]]:
    yield [data]
    for size in (1, 2, 3, 7, 64):
        yield pieces(data, size)
    step = 1 if len(data) < EVERY_CUT_BELOW else max(1, len(data) // SOME_CUTS)
    yield from ([data[:at], data[at:]] for at in range(1, len(data), step))


def check(expect: Row, seen: AssembledStream) -> None:
    strict = bool(expect.get("args_json"))
    found = answer_form({"choices": seen.summary()}, args_json=strict)
    assert found == answer_form({"choices": expect["choices"]}, args_json=strict)
    if "usage" in expect:
        assert seen.usage == expect["usage"]
    if expect.get("error"):
        assert seen.error is not None
        assert all(choice.finish_reason is None for choice in seen.choices.values())
    else:
        assert seen.error is None
        assert seen.done
    if "summary" in expect:
        summary = [{"index": one.index, "message": one.message} for one in seen.choices.values() if one.message]
        assert answer_form(summary, args_json=strict) == answer_form(expect["summary"], args_json=strict)
    if expect.get("call_deltas"):
        check_call_deltas(seen)
    if "order" in expect:
        assert seen.order == expect["order"]


@pytest.mark.parametrize("row", rows("stream"))
def test_stream(row: Row) -> None:
    _, row = begin(row)
    data = stream_bytes(row)
    whole, exchange = run(row, [data])
    check(row["expect"], assemble(whole))
    if row["expect"].get("unchanged"):
        assert whole == data
    check_notes(row["expect"], exchange.notes)
    check_verdict(row["expect"], exchange.verdict)
    verdict = exchange.verdict
    for cuts in cuts_of(data):
        out, exchange = run(row, cuts)
        assert out == whole
        assert exchange.verdict == verdict
        check_notes(row["expect"], exchange.notes)


@pytest.mark.parametrize("row", [row for row in rows("stream") if row.values[0].get("resplit")])
@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_stream_split_anew(row: Row, size: int) -> None:
    _, row = begin(row)
    data = stream_bytes(row, resplit(row["events"], size))
    for cuts in ([data], pieces(data, 64)):
        out, exchange = run(row, cuts)
        check(row["expect"], assemble(out))
        check_notes(row["expect"], exchange.notes)


@pytest.mark.parametrize("row", [row for row in rows("stream") if "progress" in row.values[0]["expect"]])
def test_stream_progress(row: Row) -> None:
    exchange, row = begin(row)
    session = Session(exchange, row.get("content_type", "text/event-stream"))
    out, fed = b"", 0
    for step in sorted(row["expect"]["progress"], key=lambda each: int(each["after"])):
        while fed < step["after"]:
            out += session.feed(b"data: " + event_text(row["events"][fed]) + b"\n\n")
            fed += 1
        one = assemble(out, whole=False).summary()[0]
        if "content" in step:
            assert one["content"].startswith(step["content"])
        if "arguments" in step:
            assert one["tool_calls"][0]["arguments"].startswith(step["arguments"])
