"""The suites: cases made from the rows in `data`. Prompts, tools, schemas and histories are our own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from importlib.resources import files
from typing import Final

from moongate.kimi.generations import recognise_model
from moongate.payload import JsonObject, loads
from moongate.verify.case import SuiteName, VerifyCase
from moongate.verify.histories import history

MAX_TOKENS: Final = 4096  # of one answer; reasoning counts
STREAM_PROMPTS: Final = 20
_FILL_IN: Final = (
    "Call fill_in once, with any values that fit its schema.",
    "请调用一次 fill_in，参数必须符合它的模式。",
)
_STREAM: Final[JsonObject] = {"stream": True, "stream_options": {"include_usage": True}}


@cache
def rows(name: str) -> tuple[JsonObject, ...]:
    """The rows of a data file."""
    text = (files("moongate.verify") / "data" / f"{name}.jsonl").read_text(encoding="utf-8")
    return tuple(loads(line) for line in text.splitlines())


@cache
def tools() -> dict[str, JsonObject]:
    return {row["function"]["name"]: row for row in rows("tools")}


def cases_of(suite: SuiteName, model: str) -> list[VerifyCase]:
    """The cases of a suite that concern this model."""
    return list(_SUITES[suite](model))


def _with_stream(request: JsonObject, *, streamed: bool) -> JsonObject:
    return {**request, **_STREAM} if streamed else request


def _prompt(row: JsonObject) -> JsonObject:
    offered = [tools()[name] for name in row["tools"]]
    return {"messages": [{"role": "user", "content": row["say"]}], "tools": offered, "max_tokens": MAX_TOKENS}


def _tools(_model: str) -> Iterator[VerifyCase]:
    """Every second prompt is streamed."""
    for at, row in enumerate(rows("tool_prompts")):
        yield VerifyCase("tools", row["id"], _with_stream(_prompt(row), streamed=at % 2 == 1), due=row["call"])


def _schema(_model: str) -> Iterator[VerifyCase]:
    for at, row in enumerate(rows("schemas")):
        about = "Takes the arguments that its schema says."
        function = {"name": "fill_in", "description": about, "parameters": row["schema"]}
        ask = _FILL_IN[at % 2]
        request: JsonObject = {
            "messages": [{"role": "user", "content": ask}],
            "tools": [{"type": "function", "function": function}],
            "max_tokens": MAX_TOKENS,
        }
        yield VerifyCase("schema", row["id"], _with_stream(request, streamed=at % 4 > 1), due=True)


def _multiturn(_model: str) -> Iterator[VerifyCase]:
    for at, row in enumerate(rows("histories")):
        request: JsonObject = {**history(row, tools()), "max_tokens": MAX_TOKENS}
        why = f"ids in the history: {row['ids']}"
        yield VerifyCase("multiturn", row["id"], _with_stream(request, streamed=at % 2 == 1), due=True, why=why)


def _stream(_model: str) -> Iterator[VerifyCase]:
    """Prompts that are asked twice: streamed and whole."""
    for row in rows("tool_prompts")[::2][:STREAM_PROMPTS]:
        yield VerifyCase("stream", row["id"], _with_stream(_prompt(row), streamed=True), due=row["call"])


def _contract(model: str) -> Iterator[VerifyCase]:
    facts = recognise_model(model)
    for row in rows("contract"):
        if facts.family.name not in row["families"] or facts.generation not in row.get(
            "generations", (facts.generation,)
        ):
            continue
        ways = {"both": (False, True), "nostream": (False,), "stream": (True,)}[row["stream"]]
        for streamed in ways:
            name = f"{row['id']}{'.stream' if streamed else ''}"
            request = _with_stream(row["request"], streamed=streamed)
            yield VerifyCase("contract", name, request, expect=row["expect"], why=row["why"])


_SUITES: Final[dict[SuiteName, Callable[[str], Iterator[VerifyCase]]]] = {
    "contract": _contract,
    "schema": _schema,
    "tools": _tools,
    "multiturn": _multiturn,
    "stream": _stream,
}
SUITES: Final = tuple(_SUITES)
