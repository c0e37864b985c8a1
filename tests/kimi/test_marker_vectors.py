"""The vectors of section 5, as far as the parsers alone can tell: text, names and arguments, at several cuts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.kimi.marker_reading import read, ways

from moongate.kimi.generations import recognise_model
from moongate.kimi.hosts import recognise_host
from moongate.kimi.ids import CallIds
from moongate.kimi.markers.pieces import Channel, Parser
from moongate.kimi.options import KimiOptions
from moongate.kimi.request.prepare import prepare
from moongate.kimi.request.schema_cache import SchemaCache

VECTORS = Path(__file__).parents[1] / "vectors"
DONE = "[DONE]"


def rows() -> list[Any]:
    """Rows of section 5 that parse markers. Rows with native calls are left out: the parser does not see those."""
    found = []
    for kind in ("reply", "stream"):
        for line in (VECTORS / f"{kind}.jsonl").read_text(encoding="utf-8").split("\n"):
            if not line:
                continue
            row = json.loads(line)
            options = row.get("options", {})
            parses = options.get("manualToolParsing") or options.get("preset") == "agent"
            about = any(rule.startswith("5") for rule in rule_list(row))
            answer = row.get("upstream") or row.get("events")
            if parses and about and answer and '"tool_calls": [{' not in json.dumps(answer):
                found.append(pytest.param(row, id=row["id"]))
    return found


def rule_list(row: dict[str, Any]) -> list[str]:
    return [row["rule"]] if isinstance(row["rule"], str) else list(row["rule"])


def deltas_of(row: dict[str, Any]) -> dict[int, list[tuple[Channel, str]]]:
    """The texts of each choice, in order; reasoning before content."""
    found: dict[int, list[tuple[Channel, str]]] = {}
    events = [row["upstream"]] if "upstream" in row else [event for event in row["events"] if event != DONE]
    for choice in (choice for event in events for choice in event.get("choices", ())):
        answer = choice.get("message") or choice.get("delta") or {}
        deltas = found.setdefault(choice["index"], [])
        for channel, text in (
            ("reasoning", answer.get("reasoning_content") or answer.get("reasoning")),
            ("content", answer.get("content")),
        ):
            if text:
                deltas.append((channel, text))  # type: ignore[arg-type]
    return found


def expected(row: dict[str, Any]) -> dict[int, tuple[str, str, list[tuple[str, Any]]]]:
    """Content, reasoning and the calls that came out of markers, by choice."""
    expect = row["expect"]
    body = row["upstream"] if expect.get("unchanged") and "upstream" in row else expect.get("body")
    choices = expect["choices"] if body is None else body["choices"]
    found = {}
    for choice in choices:
        answer = choice.get("message", choice)
        calls = [(call.get("function") or call) for call in answer.get("tool_calls") or ()]
        found[choice["index"]] = (
            answer.get("content") or "",
            answer.get("reasoning_content") or answer.get("reasoning") or "",
            [(call["name"], arguments(call["arguments"], row)) for call in calls],
        )
    return found


def arguments(text: str, row: dict[str, Any]) -> Any:
    if row["expect"].get("args_json"):
        try:
            return json.loads(text, object_pairs_hook=list)
        except ValueError:
            return "".join(text.split())
    return text


def parser_for(row: dict[str, Any]) -> Parser:
    options = KimiOptions.from_config(row.get("options"))
    target = row["target"]
    model, host = recognise_model(target["model"], options.family), recognise_host(target["base_url"], options.host)
    tool_set = prepare(
        row["request"], options, model, host, SchemaCache(), CallIds(options, model.family.id_rule)
    ).tool_set
    return model.family.parser(options.tool_tokens, tool_set, options.repair_arguments)


@pytest.mark.parametrize("row", rows())
def test_marker_vector(row: dict[str, Any]) -> None:
    expects = expected(row)
    for choice, deltas in deltas_of(row).items():
        content, reasoning, calls = expects[choice]
        for cut in ways(deltas):
            parsed = read(parser_for(row), cut)
            assert (parsed.content, parsed.reasoning) == (content, reasoning)
            found = [(call.name, arguments(call.arguments, row)) for call in parsed.calls]
            assert found == calls
