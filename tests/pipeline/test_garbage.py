"""An answer that is over is freed at once: its objects form no cycles, for which Python would have to search.

Such garbage keeps a whole conversation alive until the search, which blocks the event loop meanwhile.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from tests.support.vectors import rows, sent_names, stream_bytes, transformer_of, with_sent_names

from moongate import Session, read_reply
from moongate.dialects.fronts import FRONTS

Row = dict[str, Any]


@pytest.fixture
def only_new_objects() -> Iterator[None]:
    """What exists already is not searched, so that a search takes no time."""
    gc.collect()
    gc.freeze()
    gc.disable()
    yield
    gc.enable()
    gc.unfreeze()


def answer(row: Row) -> None:
    exchange = transformer_of(row).begin(row["request"])
    names = sent_names(row, exchange.request)
    if row["kind"] == "reply" and "upstream" in row:
        exchange.reply(with_sent_names(row["upstream"], names))
        return
    data = stream_bytes(row, with_sent_names(row["events"], names) if "events" in row else [])
    content_type = row.get("content_type", "text/event-stream")
    if row["kind"] == "reply":
        read_reply(exchange, data, content_type)
        return
    for front in FRONTS:
        exchange = transformer_of(row).begin(row["request"])
        session = Session(exchange, content_type, front.dialect.encoder({"stream": True}))
        for at in range(0, len(data), 64):
            session.feed(data[at : at + 64])
        session.close()


@pytest.mark.usefixtures("only_new_objects")
@pytest.mark.parametrize("kind", ["stream", "reply"])
def test_no_answer_leaves_cycles(kind: str) -> None:
    found: Counter[str] = Counter()
    for parameters in rows(kind):
        row: Row = parameters.values[0]
        if "config_error" in row["expect"]:
            continue
        answer(row)
        if gc.collect():  # a first use may leave some, of what is made once
            answer(row)
            found[row["id"]] = gc.collect()
    assert +found == {}
