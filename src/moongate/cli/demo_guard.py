"""`moongate demo guard`: a vendor whose calls are right in 72 of 100 turns, without the guard and with it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from moongate.chat.contracts import Exchange
from moongate.cli.terminal import Colours
from moongate.kimi.transformer import KimiTransformer
from moongate.payload import JsonObject, dumps
from moongate.pipeline.non_stream import read_reply
from moongate.sim.responses import SimRequest
from moongate.sim.vendor import Vendor

TURNS: Final = 100
MODEL: Final = "kimi-k2-sim-valid-72-after-error"
TOOL: Final[JsonObject] = {
    "type": "function",
    "function": {
        "name": "read_file",
        "parameters": {
            "type": "object",
            "properties": {
                "path": {"type": "string"},
                "limit": {"type": "integer"},
                "mode": {"type": "string", "enum": ["text", "binary"]},
            },
            "required": ["path", "limit", "mode"],
            "additionalProperties": False,
        },
    },
}
MODES: Final = {
    "repair": "calls are mended where there is one obvious way",
    "retry": "and what is still damaged is asked for again",
}


@dataclass
class GuardedRun:
    """Some turns against the vendor."""

    damaged: int = 0
    requests: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    changes: list[str] = field(default_factory=list)


def play(guard: str, turns: int = TURNS) -> GuardedRun:
    """The turns in one mode of the guard. Damage is counted as it leaves."""
    vendor, run = Vendor(), GuardedRun()
    transformer = KimiTransformer.from_config({"preset": "agent", "guard": guard}, model=MODEL)
    for number in range(turns):
        messages = [{"role": "user", "content": f"turn {number}: read a file"}]
        exchange = transformer.begin({"model": MODEL, "messages": messages, "tools": [TOOL]})
        run.requests += _answered(vendor, exchange)
        run.damaged += exchange.verdict.worth == "damaged"
        run.kinds.update(exchange.verdict.kinds)
        run.changes += [
            f"{note.where.partition('function.')[2]}: {note.before!r} became {note.after!r}: {note.why}"
            for note in exchange.notes
            if note.kind == "guard"
        ]
    return run


def show(paint: Colours) -> int:
    """Print both modes, and what was mended. 0 if every call of the last one is valid."""
    print(f"{paint('moongate demo guard', 'bold')}: {TURNS} tool turns of a vendor that is right in 72 of 100.\n")
    runs = {guard: play(guard) for guard in MODES}
    for guard, meaning in MODES.items():
        run = runs[guard]
        style = "red" if run.damaged else "green"
        left = ", ".join(f"{kind} x{count}" for kind, count in sorted(run.kinds.items())) or "every call is valid"
        print(f"   {paint(f'guard: {dumps_quoted(guard)}', 'bold')}  {meaning}")
        print(f"   {paint(f'{run.damaged} damaged turns', style)} ({left}), {run.requests} upstream requests\n")
    print(f"   {paint('mended, for example', 'bold')}")
    for change in list(dict.fromkeys(runs["repair"].changes))[:4]:
        print(f"   {change}")
    print('\nnext: "preset": "strict" in the options of Kimi; docs/guard.md')
    return 0 if runs["retry"].damaged == 0 else 1


def dumps_quoted(text: str) -> str:
    return f'"{text}"'


def _answered(vendor: Vendor, exchange: Exchange) -> int:
    """Ask until the exchange wants no other try. The number of requests."""
    wanted: JsonObject | None = exchange.request
    sent = 0
    while wanted is not None:
        sent += 1
        response = vendor.answer(SimRequest("POST", "/v1/chat/completions", {}, dumps(wanted)))
        read_reply(exchange, b"".join(response.pieces), "application/json")
        wanted = exchange.next_request()
    return sent
