"""What the core costs, against the JSON library that nobody can do without.

    python -m bench.core

R is one `orjson.loads` + `orjson.dumps` of the same JSON. CPU time, one process, rounds that take turns, the best
of them: other work on the machine disturbs all rows alike, and the best round least.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from time import process_time

import orjson
from tests.schemas import real_tools

from bench.events import MODEL, call_events, marker_events, misaligned, reads, text_events
from moongate import KimiTransformer, Session, read_reply
from moongate.chat.contracts import Dialect, Encoder
from moongate.dialects.fronts import MESSAGES, RESPONSES

MOONSHOT = "https://api.moonshot.ai/v1"
ROUNDS = 15
CHUNKS = 640
TOOL = {
    "type": "function",
    "function": {
        "name": "read_file",
        "description": "Reads a file.",
        "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
    },
}
REQUEST = {"model": MODEL, "messages": [{"role": "user", "content": "Go on."}], "tools": [TOOL], "stream": True}


@dataclass(frozen=True)
class Row:
    """One figure: what is done, how often R goes into it, and how much of R it may cost."""

    name: str
    goal: float | None
    units: int  # so many R are in one run
    run: Callable[[], object]
    reference: Callable[[], object]


def stream_row(
    name: str,
    goal: float | None,
    parts: list[bytes],
    events: list[bytes],
    *,
    options: dict[str, object] | None = None,
    encoder: Callable[[], Encoder | None] = lambda: None,
) -> Row:
    transformer = KimiTransformer.from_config(options, model=MODEL)
    bodies = [event[6:-2] for event in events]

    def run() -> None:
        session = Session(transformer.begin(REQUEST), "text/event-stream", encoder())
        feed = session.feed
        for part in parts:
            feed(part)

    return Row(name, goal, len(events), run, lambda: [orjson.dumps(orjson.loads(body)) for body in bodies])


def whole_row() -> Row:
    """An answer of 2 KB with two bad ids, the request's begin included."""
    transformer = KimiTransformer.from_config(None, model=MODEL)
    calls = [
        {
            "id": f"call_{at}",
            "type": "function",
            "function": {"name": "read_file", "arguments": json.dumps({"path": "src/" + "x" * 300})},
        }
        for at in range(2)
    ]
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": MODEL,
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "I read them. " * 80, "tool_calls": calls},
                "finish_reason": "tool_calls",
            }
        ],
        "usage": {"prompt_tokens": 100, "completion_tokens": 100, "total_tokens": 200},
    }
    data = orjson.dumps(body)

    def run() -> None:
        for _ in range(50):
            orjson.dumps(read_reply(transformer.begin(REQUEST), data, "application/json"))

    return Row(
        f"whole answer of {len(data)} bytes, two bad ids",
        6.0,
        50,
        run,
        lambda: [orjson.dumps(orjson.loads(data)) for _ in range(50)],
    )


def history(lines: int) -> list[object]:
    """200 messages with foreign ids, results of so many lines."""
    messages: list[object] = [{"role": "system", "content": "You are careful."}]
    for at in range(66):
        call = {"id": f"toolu_{at:024x}", "type": "function"}
        function = {"name": "read_file", "arguments": json.dumps({"path": f"src/file_{at}.py"})}
        messages += [
            {"role": "user", "content": "And the next one? " * 10},
            {"role": "assistant", "content": "Reading.", "tool_calls": [{**call, "function": function}]},
            {"role": "tool", "tool_call_id": call["id"], "content": "def f(x):\n    return x\n" * lines},
        ]
    return messages


def history_row() -> Row:
    """A history of 300 KB."""
    messages = history(180)
    return _request_row("history of {} messages, {} KB, foreign ids", 4.0, {**REQUEST, "messages": messages})


def tools_rows() -> list[Row]:
    """A request with 60 real tools and 200 messages, for a host that validates schemas."""
    tools: dict[str, object] = {}
    for each in real_tools():
        tools.setdefault(each["function"]["name"], each)
    request = {**REQUEST, "model": "kimi-k2.6", "messages": history(130), "tools": list(tools.values())[:60]}
    name = "60 tools, {} messages, {} KB"
    return [
        _request_row(f"{name}, cold", 8.0, request, MOONSHOT, cold=True),
        _request_row(f"{name}, again", 4.0, request, MOONSHOT),
    ]


def _request_row(name: str, goal: float, request: dict[str, object], base_url: str = "", *, cold: bool = False) -> Row:
    data = orjson.dumps(request)
    made = partial(KimiTransformer.from_config, None, model=str(request["model"]), base_url=base_url)
    transformer = made()

    def run() -> None:
        orjson.dumps((made() if cold else transformer).begin(orjson.loads(data)).request)

    messages = request["messages"]
    assert isinstance(messages, list)
    return Row(name.format(len(messages), len(data) // 1000), goal, 1, run, lambda: orjson.dumps(orjson.loads(data)))


def all_rows() -> list[Row]:
    text, markers, calls = text_events(CHUNKS), marker_events(CHUNKS), call_events(CHUNKS)
    agent: dict[str, object] = {"preset": "agent"}
    return [
        stream_row("text, 16 chunks per read", 1.0, reads(text, 16), text),
        stream_row("text, one chunk per read", 2.0, reads(text, 1), text),
        stream_row("text, reads of 1500 bytes", None, misaligned(text, 1500), text),
        stream_row("text, agent, 16 chunks per read", 4.0, reads(text, 16), text, options=agent),
        stream_row("text, agent, one chunk per read", 4.0, reads(text, 1), text, options=agent),
        stream_row("marker calls, agent, 16 chunks per read", 8.0, reads(markers, 16), markers, options=agent),
        stream_row("marker calls, agent, one chunk per read", 8.0, reads(markers, 1), markers, options=agent),
        stream_row("native calls, one chunk per read", None, reads(calls, 1), calls),
        *front_rows(MESSAGES, text, markers, calls),
        *front_rows(RESPONSES, text, markers, calls),
        whole_row(),
        history_row(),
        *tools_rows(),
    ]


def front_rows(front: Dialect, text: list[bytes], markers: list[bytes], calls: list[bytes]) -> list[Row]:
    """The same streams through another front: 6 R more than chat may cost."""
    agent: dict[str, object] = {"preset": "agent"}

    def row(
        name: str, goal: float, events: list[bytes], per_read: int, options: dict[str, object] | None = None
    ) -> Row:
        name = f"{front.name}: {name}, {per_read if per_read > 1 else 'one'} chunk{'s' * (per_read > 1)} per read"
        made = lambda: front.encoder({"model": MODEL})  # noqa: E731
        return stream_row(name, goal, reads(events, per_read), events, options=options, encoder=made)

    return [
        row("text", 7.0, text, 16),
        row("text", 8.0, text, 1),
        row("native calls", 15.0, calls, 1),
        row("marker calls, agent", 14.0, markers, 1, agent),
    ]


def measured(rows: list[Row], rounds: int = ROUNDS) -> list[tuple[Row, float, float]]:
    """Each row with its best cost and the best cost of its R, in microseconds per unit."""
    best = [[float("inf"), float("inf")] for _ in rows]
    for _ in range(rounds):
        for row, times in zip(rows, best, strict=True):
            for place, work in enumerate((row.run, row.reference)):
                begin = process_time()
                work()
                times[place] = min(times[place], (process_time() - begin) / row.units)
    return [(row, ours * 1e6, theirs * 1e6) for row, (ours, theirs) in zip(rows, best, strict=True)]


def main() -> int:
    print(f"{'':48}{'µs':>9}{'R, µs':>9}{'ratio':>8}{'goal':>7}")
    missed = 0
    for row, ours, theirs in measured(all_rows()):
        goal = "" if row.goal is None else f"{row.goal:.1f}"
        late = row.goal is not None and ours / theirs > row.goal
        missed += late
        print(f"{row.name:48}{ours:9.2f}{theirs:9.2f}{ours / theirs:8.2f}{goal:>7}{'  missed' if late else ''}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
