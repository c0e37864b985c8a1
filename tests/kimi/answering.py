"""Builds provider answers, and reads what a client sees of them."""

from __future__ import annotations

from typing import Any

from moongate import KimiTransformer
from moongate.chat.items import Chunk, Done, Item
from moongate.kimi.answer.context import AnswerContext
from moongate.kimi.exchange import KimiExchange

Row = dict[str, Any]

K2 = "moonshotai/Kimi-K2-Instruct"
K3 = "moonshotai/Kimi-K3"
PARSING = {"manualToolParsing": True}

SECTION = "<|tool_calls_section_begin|>{}<|tool_calls_section_end|>"
CALL = "<|tool_call_begin|>{}<|tool_call_argument_begin|>{}<|tool_call_end|>"


def tool(name: str, *keys: str) -> Row:
    properties = {key: {"type": "string"} for key in keys}
    return {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": properties}}}


REQUEST: Row = {
    "messages": [{"role": "user", "content": "Go."}],
    "tools": [tool("bash", "command"), tool("read", "path")],
    "tool_choice": "auto",
}


def begin(options: Row | None = None, request: Row = REQUEST, model: str = K2, base_url: str = "") -> KimiExchange:
    return KimiTransformer.from_config(options, model=model, base_url=base_url).begin_unguarded(request)


def call(original_id: Any = "functions.bash:0", name: Any = "bash", arguments: Any = "{}", **more: Any) -> Row:
    return {"id": original_id, "type": "function", "function": {"name": name, "arguments": arguments}, **more}


def answer(message: Row, reason: Any = "stop", **more: Any) -> Row:
    return {"choices": [{"index": 0, "message": {"role": "assistant", **message}, "finish_reason": reason, **more}]}


def chunk(delta: Any, reason: Any = None, index: int = 0, **more: Any) -> Chunk:
    choice = {"index": index, "delta": delta, "finish_reason": reason, **more}
    return Chunk({"id": "c", "model": "m", "choices": [choice]}, b"raw")


def calling(*entries: Row) -> Chunk:
    return chunk({"tool_calls": list(entries)})


def fed(exchange: KimiExchange, *items: Item) -> list[Item]:
    return [left for item in items for left in exchange.feed(item)]


def choices_of(items: list[Item]) -> list[Row]:
    """The choice objects that left, one by one."""
    return [choice for item in items if isinstance(item, Chunk) for choice in item.payload["choices"]]


def deltas_of(items: list[Item]) -> list[Row]:
    return [choice["delta"] for choice in choices_of(items)]


def entries_of(items: list[Item]) -> list[Row]:
    """The deltas of calls that left."""
    return [entry for delta in deltas_of(items) for entry in delta.get("tool_calls") or ()]


def reasons_of(items: list[Item]) -> list[Any]:
    return [choice["finish_reason"] for choice in choices_of(items) if choice["finish_reason"] is not None]


def kinds(noted: KimiExchange | AnswerContext) -> list[str]:
    return [note.kind for note in noted.notes]


DONE = Done()
