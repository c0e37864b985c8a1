"""Inputs that punish a parser that looks twice: floods of markers, of blanks, of tiny calls, of line ends.

A flood is made in any size and gives something to run. What it costs must grow as its size does.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import cycle, islice, repeat

from moongate import KimiTransformer, Session
from moongate.payload import dumps

DELTA = 4096
K2, K3 = "moonshotai/Kimi-K2-Instruct-0905", "moonshotai/Kimi-K3"
BEGIN, END = "<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"
CALL, DONE, ARGS = "<|tool_call_begin|>", "<|tool_call_end|>", "<|tool_call_argument_begin|>"
BASH = f"{CALL}functions.bash:0{ARGS}"
OPEN_CALL = '<|open|>call tool="bash"<|sep|>'
TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {key: {}}}}}
    for name, key in (("bash", "command"), ("read", "path"))
]
REQUEST = {"messages": [{"role": "user", "content": "Go on."}], "tools": TOOLS, "stream": True}

Run = Callable[[], object]


@dataclass(frozen=True)
class Flood:
    """`make(size)` gives what to run on an input of about that many characters."""

    name: str
    make: Callable[[int], Run]
    delta: int = DELTA  # characters per chunk; 0: the request, which comes in one piece


def repeated(name: str, unit: str, *, before: str = "", after: str = "", model: str = K2, delta: int = DELTA) -> Flood:
    """A stream of one text, repeated."""

    return Flood(name, lambda size: _stream(model, _events(before + unit * (size // len(unit)) + after, delta)), delta)


def _stream(model: str, events: list[bytes]) -> Run:
    transformer = KimiTransformer.from_config({"preset": "agent"}, model=model)

    def run() -> None:
        session = Session(transformer.begin(REQUEST), "text/event-stream")
        for event in events:
            session.feed(event)
        session.feed(b"data: [DONE]\n\n")
        session.close()

    return run


def _events(text: str, delta: int = DELTA) -> list[bytes]:
    return [_event(text[at : at + delta]) for at in range(0, len(text), delta)]


def _event(text: str) -> bytes:
    return b'data: {"choices":[{"index":0,"delta":{"content":%b}}]}\n\n' % json.dumps(text, ensure_ascii=False).encode()


def _one_by_one(size: int) -> Run:
    return _stream(K2, [_event(f'{BASH}{{"command": "'), *repeat(_event("x"), size), _event(f'"}}{DONE}')])


def _tiny_calls(size: int) -> Run:
    calls = (f"{CALL}functions.bash:{at}{ARGS}{{}}{DONE}" for at in range(size // 84))
    return _stream(K2, _events(BEGIN + "".join(calls)))


def _fields(model: str, before: str, text: str) -> Callable[[int], Run]:
    """Text that changes its field with every character."""

    def make(size: int) -> Run:
        fields = cycle((b"content", b"reasoning_content"))
        pieces = zip(islice(cycle(text), size), fields, strict=False)
        events = [b'data: {"choices":[{"index":0,"delta":{"%b":%b}}]}\n\n' % (f, dumps(t)) for t, f in pieces]
        return _stream(model, [_event(before), *events])

    return make


def _behind_reasoning(open_text: str, unit: str) -> Callable[[int], Run]:
    """Reasoning that ends within a marker or a call, and one text repeated behind it."""

    def make(size: int) -> Run:
        opened = b'data: {"choices":[{"index":0,"delta":{"reasoning_content":%b}}]}\n\n' % dumps(open_text)
        return _stream(K2, [opened, *_events(unit * (size // len(unit)), size)])

    return make


def _nameless_calls(size: int) -> Run:
    """Calls that get their names behind text which comes in between."""
    count = size // 100
    entries = [
        {"index": at, "id": f"x{at}", "type": "function", "function": {"arguments": "{}"}} for at in range(count)
    ]
    names = [{"index": at, "function": {"name": "bash"}} for at in range(count)]
    events = [b'data: {"choices":[{"index":0,"delta":{"tool_calls":[%b]}}]}\n\n' % dumps(e) for e in entries + names]
    return _stream(K2, [*events[:count], *repeat(_event("x"), count), *events[count:]])


def _begin(model: str, calls: Iterator[tuple[str, str]]) -> Run:
    """A history of calls and results."""
    messages: list[object] = [{"role": "user", "content": "Go on."}]
    for id_, name in calls:
        call = {"id": id_, "type": "function", "function": {"name": name, "arguments": "{}"}}
        messages += (
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": id_, "content": "ok"},
        )
    transformer = KimiTransformer.from_config(None, model=model)
    return lambda: transformer.begin({**REQUEST, "messages": messages})


def _long_id(size: int) -> Run:
    return _begin(K2, iter([("a" + ":1" * (size // 2), "bash")]))


def _colliding_ids(size: int) -> Run:
    return _begin(K2, islice(repeat(("functions.bash:0", "bash")), size // 168))


def _colliding_ids_k3(size: int) -> Run:
    return _begin(K3, islice(repeat(("bash_1", "bash")), size // 168))


def _bytes(unit: bytes) -> Callable[[int], Run]:
    def make(size: int) -> Run:
        data = unit * (size // len(unit))

        def run() -> None:
            session = Session(KimiTransformer().begin(REQUEST), "text/event-stream")
            for at in range(0, len(data), DELTA):
                session.feed(data[at : at + DELTA])
            session.close()

        return run

    return make


FLOODS = (
    repeated("callBegin", CALL),
    repeated("callBegin and a header, unclosed", f"{CALL}functions.bash:0"),
    repeated("callBegin and prose", f"{CALL} begins a call. "),
    repeated("sectionBegin", BEGIN),
    repeated("sectionBegin, sectionEnd", BEGIN + END),
    repeated("callEnd, stray", DONE, before=BEGIN),
    repeated("blanks behind argBegin", " ", before=BASH),
    repeated("blanks behind a section", " \n", before=BEGIN),
    repeated("<", "<"),
    repeated("<|", "<|"),
    repeated("<|tool_call_", "<|tool_call_"),
    repeated("<think>", "<think>"),
    repeated("<>", "<>"),
    Flood("tiny calls", _tiny_calls),
    repeated("broken calls", f'{BASH}{{"a{DONE}'),
    repeated("calls named by their keys", f'{CALL}7{ARGS}{{"path": "a"}}{DONE}'),
    repeated("end markers in one string", DONE, before=f'{BASH}{{"command": "', after=f'"}}{DONE}'),
    repeated("strings that never close", f'{BASH}"{"x" * 60}{DONE}'),
    repeated("raw control characters", "\n", before=f'{BASH}{{"command": "', after=f'"}}{DONE}'),
    repeated("deep nesting", "[", before=BASH, after=DONE),
    repeated("one argument", "x", before=f'{BASH}{{"command": "', after=f'"}}{DONE}'),
    Flood("one argument, 1-character deltas", _one_by_one, delta=1),
    repeated("K3: <|open|>", "<|open|>", model=K3),
    repeated("K3: <|close|> and text", "<|close|>x", model=K3),
    repeated("K3: unclosed attributes", '<|open|>call tool="', model=K3),
    repeated("K3: one unclosed attribute", "x", before='<|open|>call tool="', model=K3),
    repeated("K3: channels in channels", "<|open|>tools<|sep|>", model=K3),
    repeated("K3: calls in calls", OPEN_CALL, model=K3),
    repeated(
        "K3: arguments",
        '<|open|>argument key="k" type="number"<|sep|>1<|close|>argument<|sep|>',
        before=OPEN_CALL,
        model=K3,
    ),
    repeated("K3: deep nesting", "[", before=f'{OPEN_CALL}<|open|>argument key="k" type="array"<|sep|>', model=K3),
    repeated("K3: one string", "x\n", before=f'{OPEN_CALL}<|open|>argument key="k" type="string"<|sep|>', model=K3),
    repeated("tags behind backticks", "`<think>``<think>"),
    repeated("tags in an open fence", "<think>x", before="```"),
    repeated("lone closing tags", "a</think>"),
    repeated("K3: <|close|>think, no <|sep|>", "a<|close|>think", model=K3),
    repeated("K3: <|close|>thi<|s", "<|close|>thi<|s", model=K3),
    repeated("unknown generation: <|close|>thi", "<|close|>thi", model="kimi-latest"),
    Flood("fields that change with every <", _fields(K2, "a", "<"), delta=1),
    Flood("markers over both fields", _fields(K2, f'{BASH}{{"a":"', DONE), delta=1),
    Flood("K3: markers over both fields", _fields(K3, "a", '<|open|>call tool="'), delta=1),
    Flood("callEnd behind reasoning that ends in a header", _behind_reasoning(CALL, DONE)),
    Flood("sectionBegin behind reasoning that ends in a header", _behind_reasoning(CALL, BEGIN)),
    Flood("tags behind reasoning that ends in a marker", _behind_reasoning("<|tool_", "</think>")),
    Flood("nameless calls", _nameless_calls),
    Flood("id a:1:1:1…", _long_id, delta=0),
    Flood("history with colliding ids", _colliding_ids, delta=0),
    Flood("K3: history with colliding ids", _colliding_ids_k3, delta=0),
    Flood("CR", _bytes(b"\r")),
    Flood("CR LF", _bytes(b"\r\n")),
    Flood("empty data: lines", _bytes(b"data:\n")),
    Flood("empty data: events", _bytes(b"data:\n\n")),
    Flood("comments", _bytes(b":\n")),
)
