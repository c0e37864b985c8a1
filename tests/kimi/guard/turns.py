"""Tool turns of the library under the guard, against the simulated vendor without sockets."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from tests.support.json_schema import misfit

from moongate import KimiTransformer, Session, Verdict, read_reply
from moongate.chat.accumulate import Accumulator
from moongate.chat.contracts import Exchange
from moongate.sim.responses import SimRequest, SimResponse
from moongate.sim.vendor import Vendor

Row = dict[str, Any]

TOOLS: list[Row] = [
    {
        "type": "function",
        "function": {
            "name": "read_file",
            "parameters": {
                "type": "object",
                "properties": {
                    "path": {"type": "string"},
                    "limit": {"type": "integer", "minimum": 1},
                    "mode": {"type": "string", "enum": ["text", "binary"]},
                },
                "required": ["path", "limit", "mode"],
                "additionalProperties": False,
            },
        },
    },
    {
        "type": "function",
        "function": {
            "name": "write_todos",
            "parameters": {
                "type": "object",
                "properties": {
                    "todos": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "properties": {"title": {"type": "string"}, "done": {"type": "boolean"}},
                            "required": ["title", "done"],
                        },
                    }
                },
                "required": ["todos"],
            },
        },
    },
]


def request(number: int, model: str, **more: Any) -> Row:
    text = f"turn {number}: use read_file and write_todos"
    return {"model": model, "messages": [{"role": "user", "content": text}], "tools": TOOLS, **more}


@dataclass
class Turn:
    """What one turn led to."""

    body: Row = field(default_factory=dict)
    verdict: Verdict = field(default_factory=lambda: Verdict("aborted"))
    replaced: list[Verdict] = field(default_factory=list)
    sent: int = 0  # upstream requests
    sent_bodies: list[Row] = field(default_factory=list)

    @property
    def calls(self) -> list[Row]:
        return [call for choice in self.body["choices"] for call in choice["message"].get("tool_calls") or ()]

    def faults(self, tools: list[Row] = TOOLS) -> list[str]:
        """What is wrong with the calls, by an independent judge."""
        schemas = {tool["function"]["name"]: tool["function"]["parameters"] for tool in tools}
        found = []
        for call in self.calls:
            name, arguments = call["function"]["name"], call["function"]["arguments"]
            try:
                wrong = misfit(schemas[name], json.loads(arguments))
            except (KeyError, ValueError) as error:
                wrong = repr(error)
            if wrong is not None:
                found.append(f"{name}({arguments}): {wrong}")
        return found


def send(vendor: Vendor, body: Row) -> SimResponse:
    return vendor.answer(SimRequest("POST", "/v1/chat/completions", {}, json.dumps(body).encode()))


def run_turn(vendor: Vendor, options: Row, asked: Row, *, stream: bool, cut: int = 0) -> Turn:
    """One turn as a client of the library makes it. `cut`: the stream comes in pieces of so many bytes."""
    transformer = KimiTransformer.from_config(options, model=asked["model"])
    exchange = transformer.begin({**asked, "stream": True} if stream else asked)
    turn = Turn()
    (_stream if stream else _whole)(vendor, exchange, turn, cut)
    turn.verdict, turn.replaced = exchange.verdict, [each.verdict for each in exchange.replaced]
    return turn


def _whole(vendor: Vendor, exchange: Exchange, turn: Turn, _cut: int) -> None:
    wanted: Row | None = exchange.request
    while wanted is not None:
        turn.sent += 1
        turn.sent_bodies.append(wanted)
        response = send(vendor, wanted)
        turn.body = read_reply(exchange, b"".join(response.pieces), "application/json")
        wanted = exchange.next_request()


def _stream(vendor: Vendor, exchange: Exchange, turn: Turn, cut: int) -> None:
    session = Session(exchange, "text/event-stream")
    out = b""
    wanted: Row | None = exchange.request
    while wanted is not None:
        turn.sent += 1
        turn.sent_bodies.append(wanted)
        data = b"".join(send(vendor, wanted).pieces)
        for at in range(0, len(data), cut or len(data)):
            out += session.feed(data[at : at + (cut or len(data))])
        out += session.close()
        wanted = exchange.next_request() if session.waiting else None
        if wanted is not None:
            session.resume("text/event-stream")
    turn.body = assembled(out)


def assembled(out: bytes) -> Row:
    """What a client makes of a stream. Each choice finishes once, and the end comes once."""
    assert out.count(b"data: [DONE]") == 1
    assert out.endswith(b"data: [DONE]\n\n")
    accumulator = Accumulator()
    finishes: list[int] = []
    ids = set()
    for event in out.split(b"\n\n")[:-2]:
        payload = json.loads(event.removeprefix(b"data: "))
        ids.add(payload["id"])
        finishes += [choice["index"] for choice in payload["choices"] if choice.get("finish_reason")]
        accumulator.feed(payload)
    assert len(finishes) == len(set(finishes))
    assert len(ids) == 1
    return accumulator.completion()
