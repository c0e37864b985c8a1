"""The whole answers of `tests/vectors/reply.jsonl`."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from tests.support.vectors import (
    answer_form,
    check_notes,
    check_verdict,
    rows,
    sent_names,
    stream_bytes,
    transformer_of,
    with_sent_names,
)

from moongate import read_reply


@pytest.mark.parametrize("row", rows("reply"))
def test_reply(row: dict[str, Any]) -> None:
    expect, before = row["expect"], copy.deepcopy(row["request"])
    exchange = transformer_of(row).begin(row["request"])
    names = sent_names(row, exchange.request)
    if "events" in row:
        data = stream_bytes(row, with_sent_names(row["events"], names))
        content_type = row.get("content_type", "text/event-stream")
        body = read_reply(exchange, data, content_type)
        upstream = None
    else:
        upstream = with_sent_names(row["upstream"], names)
        kept = copy.deepcopy(upstream)
        body = exchange.reply(upstream)
        assert upstream == kept, "changed in place"
        again = transformer_of(row).begin(row["request"])
        assert read_reply(again, json.dumps(upstream).encode(), "application/json") == body
    if expect.get("unchanged"):
        assert body is upstream
    if "body" in expect:
        strict = bool(expect.get("args_json"))
        wanted = with_sent_names(expect["body"], names)
        assert answer_form(body, args_json=strict) == answer_form(wanted, args_json=strict)
    check_notes(expect, exchange.notes)
    check_verdict(expect, exchange.verdict)
    assert row["request"] == before
