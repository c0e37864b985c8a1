"""What is measured: the rows, and the request that each of them sends.

The real turn of an agent comes first; the small request and the chunk alone stand behind it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any, Literal

from bench import turns
from bench.contender import FIRST_BYTE, Contender
from bench.load import Job
from bench.turns import FRONTS, HEADLINE, NEWEST, PLAIN, REVISION, SIZES, VARIANTS, Variant

QUESTION = [{"role": "user", "content": "Say hello, please."}]
TOOL = {"name": "read_file", "description": "Read a file", "parameters": {"type": "object", "properties": {}}}

TEXT = "ordinary"  # in nearly every chunk of text that the fake provider streams; 70 to 100 of 100 have it
LEAST_TEXTS = 40  # in the answer to a turn: fewer are an error inside a stream that began well

Who = Literal["everybody", "own", "compiled"]  # own: nginx and all builds; compiled: moongate as machine code


@dataclass(frozen=True)
class Row:
    """One figure: what is asked, of whom, and how many units of it a request has."""

    name: str
    model: str
    units: int = 1
    who: Who = "everybody"
    provider: str = ""  # of moongate's configuration, if not the usual one
    front: str = "chat"
    requests: int = 40
    concurrency: int = 20
    size: int = 0  # KB of a turn; 0: the small request
    cold: bool = False
    quick: bool = False  # also in the short form
    rounds: int = 99  # in which it is measured, if there are as many

    def asks(self, contender: Contender) -> bool:
        if self.front not in contender.fronts or (contender.rows and self.name not in contender.rows):
            return False
        if self.who == "compiled":
            return contender.name.partition(",")[0] == "moongate"
        return self.who == "everybody" or contender.build or contender.name.startswith("nginx")

    @property
    def figure(self) -> str:
        return f"CPU µs per {self.name}"


def turn_row(size: int, front: str, variant: Variant = PLAIN, **more: Any) -> Row:
    name = f"turn of {size} KB, {front}" + (f", {variant.name}" if variant is not PLAIN else "")
    settings = {"provider": f"{variant.provider}/", "size": size, "front": front, "cold": variant.cold, **more}
    return Row(name, variant.answer, **settings)


VARIANT_ROUNDS = 2  # of the rows that are not the headline: else a run would take an hour
QUICK_VARIANTS = ("new tools", "marker call")


def turn_rows() -> list[Row]:
    """The headline on every front and in every variant, then the other sizes."""
    found = [turn_row(HEADLINE, front, quick=True) for front in FRONTS]
    for variant in VARIANTS[1:]:
        quick = variant.name in QUICK_VARIANTS
        more = {"who": "own", "rounds": VARIANT_ROUNDS}
        found += [turn_row(HEADLINE, front, variant, quick=quick and front == "chat", **more) for front in FRONTS]
    sizes = [size for size in SIZES if size != HEADLINE]
    found += [turn_row(size, front, who="own", rounds=VARIANT_ROUNDS) for size in sizes for front in FRONTS]
    return found


REQUEST = Row("request", "small", requests=4000, concurrency=32, quick=True)
CHUNK = Row("chunk", "text-100-5", 100, quick=True)
ROWS: dict[str, list[Row]] = {
    "turn": turn_rows(),
    "small": [
        REQUEST,
        CHUNK,
        Row("chunk, agent preset", "text-100-5", 100, who="compiled", provider="agent/"),
        Row("chunk of markers, agent preset", "markers-100-5", 100, who="compiled", provider="agent/"),
        Row("request, messages", "small", who="compiled", front="messages", requests=4000, concurrency=32),
        Row("chunk, messages", "text-100-5", 100, who="compiled", front="messages"),
        Row("request, responses", "small", who="compiled", front="responses", requests=4000, concurrency=32),
        Row("chunk, responses", "text-100-5", 100, who="compiled", front="responses"),
    ],
}
# The time to the first byte: the same turns, one after the other, answered at once.
FIRST_BYTES = [
    replace(row, model=FIRST_BYTE, requests=40, concurrency=1)
    for row in ROWS["turn"]
    if row.model == PLAIN.answer and not row.cold and (row.size == HEADLINE or row.front == "chat")
]


def small_body(row: Row, model: str) -> dict[str, Any]:
    stream = row.model != "small"
    if row.front == "messages":
        tools = [{"name": TOOL["name"], "input_schema": TOOL["parameters"]}]
        return {"model": model, "max_tokens": 512, "messages": QUESTION, "stream": stream, "tools": tools}
    if row.front == "responses":
        return {"model": model, "input": QUESTION, "stream": stream, "tools": [{"type": "function", **TOOL}]}
    body = {"model": model, "messages": QUESTION, "stream": stream}
    return {**body, "tools": [{"type": "function", "function": TOOL}]} if row.provider else body


def job(contender: Contender, provider: int, row: Row, **more: Any) -> Job:
    """What the driver sends: `row` in this contender's terms; `more` replaces fields of the job."""
    prefix = row.provider if row.provider and contender.build else contender.prefix
    model = prefix + row.model
    settings = {"requests": row.requests, "concurrency": row.concurrency, "stream": row.model != "small", **more}
    if row.size:
        settings["counted"] = [NEWEST, REVISION] if row.cold else [NEWEST]
        settings["mark"] = TEXT
    body = turns.body(row.front, row.size, model) if row.size else json.dumps(small_body(row, model))
    return Job(path=FRONTS[row.front], body=body, headers=contender.headers(provider), **settings)


def many_messages(body: dict[str, Any], steps: int = 200) -> dict[str, Any]:
    """The chat request with a history of short calls and results, whose ids Kimi does not know."""
    history: list[dict[str, Any]] = [*QUESTION]
    for step in range(steps):
        function = {"name": TOOL["name"], "arguments": '{"path": "src/module/file.py"}'}
        call = {"id": f"call_{step:08x}", "type": "function", "function": function}
        history.append({"role": "assistant", "content": None, "tool_calls": [call]})
        history.append({"role": "tool", "tool_call_id": call["id"], "content": "done"})
    return {**body, "messages": history + QUESTION, "tools": [{"type": "function", "function": TOOL}]}
