"""Every row of tests/vectors/request.jsonl, as tests/vectors/README.md says."""

from __future__ import annotations

import copy
import json
import re
from typing import Any

import pytest
from tests.support.vectors import Row, rows, sent_names, transformer_of, with_sent_names

from moongate import BadRequest, ConfigError, Exchange

SENT_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]{2,63}")
SET_KEYWORDS = ("anyOf", "enum", "required")


@pytest.mark.parametrize("row", rows("request"))
def test_request(row: Row) -> None:
    before = copy.deepcopy(row["request"])
    expect = row["expect"]
    if refusal := expect.get("config_error") or expect.get("error"):
        with pytest.raises(ConfigError if "config_error" in expect else BadRequest) as raised:
            transformer_of(row).begin(row["request"])
        assert raised.value.status == refusal.get("status", raised.value.status)
        for text in refusal["contains"]:
            assert text in str(raised.value)
    else:
        check(row, transformer_of(row).begin(row["request"]))
    assert row["request"] == before


def check(row: Row, exchange: Exchange) -> None:
    expect = row["expect"]
    sent = sent_names(row, exchange.request)
    if expect.get("unchanged"):
        assert exchange.request is row["request"]
    if "body" in expect:
        wanted = with_sent_names(expect["body"], sent)
        assert comparable(exchange.request, expect) == comparable(wanted, expect)
    if expect.get("tool_names_valid"):
        assert all(SENT_NAME.fullmatch(name) for name in sent.values())
        assert len(set(sent.values())) == len(sent)
    kinds = {note.kind for note in exchange.notes}
    assert set(expect.get("notes", ())) <= kinds
    assert not set(expect.get("not_notes", ())) & kinds


def comparable(body: Row, expect: Row) -> Any:
    """The body with parts that are sets made sets, and arguments parsed if the row wants them so."""
    body = copy.deepcopy(body)
    for tool in body.get("tools") or []:
        if "parameters" in tool.get("function", {}):
            tool["function"]["parameters"] = comparable_schema(tool["function"]["parameters"])
    if expect.get("args_json"):
        for message in body["messages"]:
            for call in message.get("tool_calls") or []:
                call["function"]["arguments"] = json.loads(call["function"]["arguments"])
    return body


def comparable_schema(schema: Any, *, names: bool = False) -> Any:
    """`anyOf`, `enum`, `required` in one order; below `properties` and `$defs` keys are names, not keywords."""
    if isinstance(schema, list):
        return [comparable_schema(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    result = {}
    for key, value in schema.items():
        made = comparable_schema(value, names=not names and key in ("properties", "$defs"))
        if not names and key in SET_KEYWORDS and isinstance(made, list):
            if key == "required" and not made:
                continue
            made = sorted(made, key=lambda each: json.dumps(each, sort_keys=True))
        result[key] = made
    return result
