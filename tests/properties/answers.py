"""Hypothesis strategies for answers: what a model may write, and how a host may stream it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from random import Random
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from tests.properties.marked_texts import ARGUMENTS, MARKED_TEXTS, NAMES
from tests.support.length import examples

from moongate import KimiTransformer, Session

Row = dict[str, Any]

thorough = settings(max_examples=examples(500), deadline=None, derandomize=True)

MODELS = {"k2": "moonshotai/Kimi-K2-Instruct-0905", "k3": "moonshotai/Kimi-K3"}
PARSING = {"manualToolParsing": True}
ALL_OFF = {"repairOnMismatch": False, "enforceFinishReasonLoop": False, "manualToolParsing": False}


def tool(name: str, *keys: str) -> Row:
    parameters = {"type": "object", "properties": {key: {"type": "string"} for key in keys}, "required": list(keys[:1])}
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


TOOLS = [tool(name, *keys) for name, keys in zip(NAMES, (["command"], ["path", "lines"], [], ["x"]), strict=True)]
REQUEST: Row = {
    "model": "m",
    "messages": [{"role": "user", "content": "Go."}],
    "tools": TOOLS,
    "tool_choice": "auto",
    "stream": True,
}


@dataclass(frozen=True)
class Message:
    """The content of one choice."""

    reasoning: str
    content: str
    calls: tuple[Row, ...]
    reason: str

    def whole(self, index: int = 0) -> Row:
        message: Row = {"role": "assistant", "content": self.content or None}
        if self.reasoning:
            message["reasoning_content"] = self.reasoning
        if self.calls:
            message["tool_calls"] = list(self.calls)
        return {"index": index, "message": message, "finish_reason": self.reason}


IDS = [
    "",
    "call_1",
    "x",
    "functions.bash:0",
    "functions.bash:1",
    "functions.read_file:3",
    "functions.bash:12",
    "bash_0",
]
CALLS: list[Row] = [
    {"id": IDS[(at * 5 + shift) % len(IDS)], "type": "function", "function": {"name": name, "arguments": arguments}}
    for shift in range(4)
    for at, name in enumerate([*NAMES, "functions.bash:3", "functions_read_file_0", "unheard", "bash"])
    for arguments in ([*ARGUMENTS, "", "not json"][(at * 3 + shift) % (len(ARGUMENTS) + 2)],)
]
calls = st.sampled_from(CALLS)
reasons = st.sampled_from(["stop", "tool_calls", "length", "content_filter", "end_turn"])
native = st.lists(calls, max_size=2).map(tuple)


def across_fields(text: str, at: int, made: tuple[Row, ...], reason: str) -> Message:
    """A text that begins in the reasoning field and goes on in content, at any character (section 5.1)."""
    return Message(text[: at % (len(text) + 1)], text[at % (len(text) + 1) :], made, reason)


MESSAGES = {
    family: st.one_of(
        st.builds(Message, text, text, native, reasons),
        st.builds(across_fields, text, st.integers(0, 2000), native, reasons),
    )
    for family, text in MARKED_TEXTS.items()
}

# The positions at which texts and bytes are split are random, not drawn: shrinking them would show nothing.
rngs = st.integers(0, 2**32).map(Random)


def cut_up(text: str, rng: Random, most: int = 5) -> list[str]:
    """The text split into pieces that are not empty."""
    cuts = sorted(rng.randint(0, len(text)) for _ in range(rng.randint(0, most)))
    return [piece for piece in (text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)) if piece]


def byte_cuts(data: bytes, rng: Random) -> list[bytes]:
    """The bytes split into a few pieces, or into very many."""
    if rng.random() < 0.2:
        size = rng.randint(1, 7)
        return [data[at : at + size] for at in range(0, len(data), size)]
    cuts = sorted(rng.randint(0, len(data)) for _ in range(rng.randint(0, 10)))
    return [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True)]


def deltas(message: Message, rng: Random) -> list[Row]:
    """The deltas of a message: native calls first, then the texts, as in the rules for non-streamed answers."""
    sent: list[Row] = [{"role": "assistant"}]
    for at, call in enumerate(message.calls):
        function = call["function"]
        sent.append({"tool_calls": [{"index": at, **call, "function": {**function, "arguments": ""}}]})
        for piece in cut_up(function["arguments"], rng):
            sent.append({"tool_calls": [{"index": at, "function": {"arguments": piece}}]})
    sent += [{"reasoning_content": piece} for piece in cut_up(message.reasoning, rng)]
    sent += [{"content": piece} for piece in cut_up(message.content, rng)]
    return sent


def chunk(delta: Row, reason: str | None = None, index: int = 0) -> Row:
    choice = {"index": index, "delta": delta, "finish_reason": reason}
    return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}


def event_of(payload: Row) -> bytes:
    return b"data: " + json.dumps(payload, separators=(",", ":"), ensure_ascii=False).encode() + b"\n\n"


def sse(chunks: list[Row]) -> bytes:
    return b"".join([*map(event_of, chunks), b"data: [DONE]\n\n"])


def stream_of(message: Message, rng: Random) -> bytes:
    """The bytes of a stream with the content of a message."""
    return sse([*(chunk(delta) for delta in deltas(message, rng)), chunk({}, message.reason)])


def transformer(family: str, options: Row | None = None) -> KimiTransformer:
    return KimiTransformer.from_config(options, model=MODELS[family])


def run(kimi: KimiTransformer, parts: list[bytes], content_type: str = "text/event-stream") -> bytes:
    session = Session(kimi.begin(REQUEST), content_type)
    return b"".join([*(session.feed(part) for part in parts), session.close()])


def summary_of(reply: Row) -> list[Row]:
    """A completion in the form of `AssembledStream.summary`."""
    return [
        {
            "index": choice["index"],
            "content": choice["message"].get("content") or "",
            "reasoning": choice["message"].get("reasoning_content") or "",
            "tool_calls": [
                {"id": call["id"], "name": call["function"]["name"], "arguments": call["function"]["arguments"]}
                for call in choice["message"].get("tool_calls") or ()
            ],
            "finish_reason": choice["finish_reason"],
        }
        for choice in reply["choices"]
    ]
