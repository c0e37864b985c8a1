"""The vectors pass with generic transformers around Kimi: what they add is theirs, all else is as with Kimi alone."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.vectors import Row, rows, sent_names, stream_bytes, transformer_of, with_sent_names

from moongate import BadRequest, Chain, Session, read_reply
from moongate.transformers.parameters import (
    CustomParamsTransformer,
    MaxTokenTransformer,
    SamplingTransformer,
    StreamOptionsTransformer,
)

OUTER = (StreamOptionsTransformer(), MaxTokenTransformer(1 << 30))
INNER = (SamplingTransformer(repetition_penalty=1.05), CustomParamsTransformer({"x_operator": "blue"}))
ADDED = ("x_operator", "repetition_penalty")

orders = pytest.mark.parametrize("outside", [True, False], ids=["all before Kimi", "two before, two behind"])


def composed(row: Row, outside: bool) -> Chain:
    kimi = transformer_of(row).unguarded
    return Chain([*OUTER, *INNER, kimi] if outside else [*OUTER, kimi, *INNER])


def without_additions(sent: Row, asked: Row) -> Row:
    left = {name: value for name, value in sent.items() if name not in ADDED or name in asked}
    if "stream_options" not in asked:
        left.pop("stream_options", None)
    return left


@orders
@pytest.mark.parametrize("row", [row for row in rows("request") if "config_error" not in row.values[0]["expect"]])
def test_request(row: Row, outside: bool) -> None:
    try:
        alone = transformer_of(row).unguarded.begin(row["request"]).request
    except BadRequest as error:
        with pytest.raises(BadRequest, match="^" + str(error)[:8].replace("[", r"\[").replace("]", r"\]")):
            composed(row, outside).begin(row["request"])
        return
    sent = composed(row, outside).begin(row["request"]).request
    asked: Any = {**row["request"], **alone}
    assert without_additions(sent, asked) == without_additions(dict(alone), asked)


@orders
@pytest.mark.parametrize("row", rows("reply"))
def test_reply(row: Row, outside: bool) -> None:
    alone, chain = transformer_of(row).unguarded.begin(row["request"]), composed(row, outside).begin(row["request"])
    names = sent_names(row, alone.request)
    if "events" in row:
        data = stream_bytes(row, with_sent_names(row["events"], names))
        content_type = row.get("content_type", "text/event-stream")
        assert read_reply(chain, data, content_type) == read_reply(alone, data, content_type)
    else:
        upstream = with_sent_names(row["upstream"], names)
        assert chain.reply(upstream) == alone.reply(upstream)
    assert chain.verdict == alone.verdict
    assert [*chain.notes] == [*alone.notes]


@orders
@pytest.mark.parametrize("row", rows("stream"))
def test_stream(row: Row, outside: bool) -> None:
    alone, chain = transformer_of(row).unguarded.begin(row["request"]), composed(row, outside).begin(row["request"])
    if "events" in row:
        row = {**row, "events": with_sent_names(row["events"], sent_names(row, alone.request))}
    data = stream_bytes(row)
    content_type = row.get("content_type", "text/event-stream")
    sessions = [Session(exchange, content_type) for exchange in (alone, chain)]
    pieces = [data[at : at + 64] for at in range(0, len(data), 64)]
    outputs = [b"".join([*map(session.feed, pieces), session.close()]) for session in sessions]
    assert outputs[0] == outputs[1]
    assert chain.verdict == alone.verdict
    assert [*chain.notes] == [*alone.notes]
