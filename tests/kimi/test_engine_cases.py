"""The cases of other projects' tests: read alike at every cut; `docs/engines.md` says why some are read differently."""

from __future__ import annotations

import json
import re
from pathlib import Path
from random import Random
from typing import Any

import pytest

from moongate.chat.items import Chunk, Done
from moongate.kimi.transformer import KimiTransformer

Row = dict[str, Any]

CASES = Path(__file__).parents[2] / ".." / "shared" / "engines" / "cases.jsonl"
PAGE = Path(__file__).parents[2] / "docs" / "engines.md"
ROW = re.compile(r"\| ([^|]+) \| ([^|]+) \| ([^|]+) \|")


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    if not CASES.exists():
        pytest.skip("the cases of other projects are not here (../shared/engines/cases.jsonl)")
    return [json.loads(line) for line in CASES.read_text(encoding="utf-8").split("\n") if line]


def request_of(row: Row) -> Row:
    request: Row = {"messages": [{"role": "user", "content": "Go."}]}
    if row["tools"]:
        request["tools"] = row["tools"]
    if row["tool_choice"]:
        request["tool_choice"] = row["tool_choice"]
    return request


def transformer_of(row: Row) -> KimiTransformer:
    return KimiTransformer.from_config({"manualToolParsing": True}, model=row["model"])


def whole(row: Row) -> Row:
    """What a client gets of the text at once."""
    message = {"role": "assistant", "content": None, row["field"]: row["text"]}
    choice = {"index": 0, "message": message, "finish_reason": row["finish"]}
    left = transformer_of(row).begin(request_of(row)).reply({"choices": [choice]})["choices"][0]
    message = left["message"]
    calls = [
        (call["id"], call["function"]["name"], call["function"]["arguments"])
        for call in message.get("tool_calls") or ()
    ]
    texts = {"content": message.get("content") or "", "reasoning": message.get("reasoning_content") or ""}
    return {**texts, "calls": calls, "finish": left["finish_reason"]}


def streamed(row: Row, pieces: list[str]) -> Row:
    """What a client gets of the text in these pieces, put together."""
    exchange = transformer_of(row).begin(request_of(row))
    choices: list[Row] = [{"index": 0, "delta": {row["field"]: piece}, "finish_reason": None} for piece in pieces]
    choices.append({"index": 0, "delta": {}, "finish_reason": row["finish"]})
    items = [left for choice in choices for left in exchange.feed(Chunk.of({"choices": [choice]}))]
    items += exchange.feed(Done())
    found: Row = {"content": "", "reasoning": "", "calls": [], "finish": None}
    for item in items:
        if isinstance(item, Chunk):
            _add(found, item.payload["choices"][0])
    return {**found, "calls": [tuple(call) for call in found["calls"]]}


def _add(found: Row, choice: Row) -> None:
    delta = choice["delta"]
    found["content"] += delta.get("content") or ""
    found["reasoning"] += delta.get("reasoning_content") or ""
    found["finish"] = choice["finish_reason"] or found["finish"]
    for entry in delta.get("tool_calls") or ():
        if entry["index"] == len(found["calls"]):
            found["calls"].append([entry["id"], entry["function"]["name"], ""])
        found["calls"][entry["index"]][2] += entry["function"]["arguments"]


def random_pieces(text: str, rng: Random) -> list[str]:
    places = sorted(rng.randint(0, len(text)) for _ in range(rng.randint(1, 8)))
    return [text[start:end] for start, end in zip([0, *places], [*places, len(text)], strict=True)]


def test_every_cut_gives_what_the_whole_text_gives(rows: list[Row]) -> None:
    rng = Random(196)
    assert len(rows) >= 196
    for row in rows:
        expected = whole(row)
        for pieces in ([row["text"]], list(row["text"]), *(random_pieces(row["text"], rng) for _ in range(5))):
            assert streamed(row, pieces) == expected, row["id"]


def agrees(row: Row) -> bool:
    """Whether the result is what the other project's test expects, but for blanks at both ends and in JSON."""
    found = whole(row)
    calls = [(name, _canonical(arguments)) for _, name, arguments in found["calls"]]
    return (
        calls == [(call[0], _canonical(call[1])) for call in row["calls"]]
        and all(found[field].strip() == row[field].strip() for field in ("content", "reasoning"))
        and row["expect_finish"] in (None, found["finish"])
    )


def _canonical(arguments: str) -> str:
    try:
        return json.dumps(json.loads(arguments), sort_keys=True)
    except ValueError:
        return arguments.strip()


def test_the_page_names_every_difference(rows: list[Row]) -> None:
    page = PAGE.read_text(encoding="utf-8")
    words = set(re.findall(r"^\| (\w+) \| [A-Z]", page, re.MULTILINE))
    listed = [match.groups() for line in page.split("\n") if (match := ROW.fullmatch(line))]
    table = {(project, case): why for project, case, why in listed[1:] if why in words}
    different = {(row["source"].split()[0], row["id"]) for row in rows if not agrees(row)}
    assert different == table.keys()
    assert set(table.values()) == words
    assert f"In {len(rows) - len(different)} cases" in page
