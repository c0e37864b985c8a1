"""Rows of `tests/vectors/`, and what they compare: see the README there."""

from __future__ import annotations

import base64
import copy
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from moongate import KimiTransformer, Verdict

VECTORS = Path(__file__).parents[1] / "vectors"
EMPTY_TEXTS = ("content", "reasoning_content", "reasoning", "refusal")

Row = dict[str, Any]


def rows(kind: str) -> list[Any]:
    lines = (VECTORS / f"{kind}.jsonl").read_text(encoding="utf-8").split("\n")
    return [pytest.param(row, id=row["id"]) for row in map(json.loads, filter(None, lines))]


def transformer_of(row: Row) -> KimiTransformer:
    return KimiTransformer.from_config(row.get("options"), **row["target"])


def sent_names(row: Row, sent: Row) -> dict[str, str]:
    """The name under which each offered tool was sent."""
    pairs = zip(row["request"].get("tools") or (), sent.get("tools") or (), strict=False)  # more may be moved there
    return {tool["function"]["name"]: other["function"]["name"] for tool, other in pairs if "function" in tool}


def with_sent_names(value: Any, names: dict[str, str]) -> Any:
    """The value with `@@SENT:name@@` filled in."""
    if isinstance(value, str):
        return re.sub(r"@@SENT:(.*?)@@", lambda found: names[found[1]], value)
    if isinstance(value, list):
        return [with_sent_names(each, names) for each in value]
    if isinstance(value, dict):
        return {key: with_sent_names(each, names) for key, each in value.items()}
    return value


def stream_bytes(row: Row, events: list[Any] | None = None) -> bytes:
    """The upstream's bytes."""
    if "raw" in row:
        return str(row["raw"]).encode("utf-8", "surrogatepass")
    if "raw_b64" in row:
        return base64.b64decode(row["raw_b64"])
    lines = [event_text(each) for each in (row["events"] if events is None else events)]
    if is_ndjson(row):
        return b"".join(line + b"\n" for line in lines)
    return b"".join(b"data: " + line + b"\n\n" for line in lines)


def event_text(event: Any) -> bytes:
    if isinstance(event, str):
        return event.encode()
    return json.dumps(event, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass")


def is_ndjson(row: Row) -> bool:
    return str(row.get("content_type", "")).startswith("application/x-ndjson")


def resplit(events: list[Any], size: int) -> list[Any]:
    """Each text delta split into several of `size` characters with the same envelope."""
    return [part for event in events for part in _parts(event, size)]


def _parts(event: Any, size: int) -> Iterator[Any]:
    choices = event.get("choices") if isinstance(event, dict) else None
    delta = choices[0].get("delta") if choices and len(choices) == 1 else None
    fields = [
        name for name in ("content", "reasoning_content", "reasoning") if delta and isinstance(delta.get(name), str)
    ]
    if not delta or len(fields) != 1 or len(delta[fields[0]]) <= size:
        yield event
        return
    field = fields[0]
    text = delta[field]
    cuts = range(0, len(text), size)
    for at in cuts:
        part = copy.deepcopy(event)
        choice = part["choices"][0]
        choice["delta"] = {**(choice["delta"] if at == 0 else {}), field: text[at : at + size]}
        if at != cuts[-1]:
            choice["finish_reason"] = None
            choice.pop("usage", None)
            part.pop("usage", None)
        yield part


def answer_form(value: Any, *, args_json: bool) -> Any:
    """A normal form in which equivalent answers are equal: without empty texts and empty lists of calls."""
    if isinstance(value, list):
        return [answer_form(each, args_json=args_json) for each in value]
    if not isinstance(value, dict):
        return value
    form: dict[str, Any] = {}
    for key, each in value.items():
        if (key in EMPTY_TEXTS and each in ("", None)) or (key == "tool_calls" and each in ([], None)):
            continue
        form[key] = arguments_form(each) if key == "arguments" and args_json else answer_form(each, args_json=args_json)
    return form


def arguments_form(text: Any) -> Any:
    """Arguments in a normal form: compact JSON with its order of keys; invalid JSON without blanks outside strings."""
    try:
        return json.dumps(json.loads(text))
    except ValueError:
        return "".join(re.findall(r'"(?:[^"\\]|\\.)*"?|\S', text))


def check_verdict(expect: Row, verdict: Verdict) -> None:
    """`expect.verdict` is the worth and, after a colon, a kind of damage that must be among those found."""
    if "verdict" in expect:
        worth, _, kind = expect["verdict"].partition(":")
        assert verdict.worth == worth, verdict
        assert not kind or kind in verdict.kinds, verdict


def check_notes(expect: Row, notes: Any) -> None:
    kinds = {note.kind for note in notes}
    assert kinds >= set(expect.get("notes", ())), kinds
    assert not kinds & set(expect.get("not_notes", ())), kinds
