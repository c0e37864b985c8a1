"""Every row of tests/vectors/request.jsonl, as tests/vectors/README.md says."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any

import pytest

from moongate.errors import BadRequest, ConfigError
from moongate.kimi.family import facts_of
from moongate.kimi.hosts import host_of
from moongate.kimi.options import KimiOptions
from moongate.kimi.request import Prepared, prepare
from moongate.kimi.schema_cache import SchemaCache

VECTORS = Path(__file__).parent / "vectors" / "request.jsonl"
SENT_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]{2,63}")
SET_KEYWORDS = ("anyOf", "enum", "required")

Row = dict[str, Any]


def rows() -> list[Row]:
    return [json.loads(line) for line in VECTORS.read_text(encoding="utf-8").split("\n") if line]


def begin(row: Row) -> Prepared:
    options = KimiOptions.from_config(row.get("options"))
    target = row["target"]
    model, host = facts_of(target["model"], options), host_of(target["base_url"], options)
    return prepare(row["request"], options, model, host, SchemaCache())


@pytest.mark.parametrize("row", [pytest.param(row, id=row["id"]) for row in rows()])
def test_request(row: Row) -> None:
    before = copy.deepcopy(row["request"])
    expect = row["expect"]
    if refusal := expect.get("config_error") or expect.get("error"):
        with pytest.raises(ConfigError if "config_error" in expect else BadRequest) as raised:
            begin(row)
        assert raised.value.status == refusal.get("status", raised.value.status)
        for text in refusal["contains"]:
            assert text in str(raised.value)
    else:
        check(row, begin(row))
    assert row["request"] == before


def check(row: Row, prepared: Prepared) -> None:
    expect = row["expect"]
    sent = sent_names(row["request"], prepared.request)
    if expect.get("unchanged"):
        assert prepared.request is row["request"]
    if "body" in expect:
        wanted = with_sent_names(expect["body"], sent)
        assert comparable(prepared.request, expect) == comparable(wanted, expect)
    if expect.get("tool_names_valid"):
        assert all(SENT_NAME.fullmatch(name) for name in sent.values())
        assert len(set(sent.values())) == len(sent)
    assert set(expect.get("notes", ())) <= {note.kind for note in prepared.notes}


def sent_names(request: Row, transformed: Row) -> dict[str, str]:
    """The name under which each offered function was sent, found at the same position of `tools`."""
    return {
        tool["function"]["name"]: sent["function"]["name"]
        for tool, sent in zip(request.get("tools") or [], transformed.get("tools") or [], strict=True)
        if tool.get("type") == "function"
    }


def with_sent_names(value: Any, sent: dict[str, str]) -> Any:
    text = json.dumps(value)
    for name, sent_name in sent.items():
        text = text.replace(f"@@SENT:{name}@@", sent_name)
    return json.loads(text)


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
