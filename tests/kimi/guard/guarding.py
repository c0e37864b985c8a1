"""Exchanges under the guard, fed by hand."""

from __future__ import annotations

from typing import Any

from tests.kimi.answering import K2, Row, answer, call, chunk

from moongate import KimiTransformer
from moongate.chat.items import Chunk, Done, Item
from moongate.kimi.guard.exchange import GuardedExchange

READ: Row = {
    "type": "function",
    "function": {
        "name": "read",
        "parameters": {
            "type": "object",
            "properties": {"path": {"type": "string"}, "limit": {"type": "integer"}},
            "required": ["path"],
            "additionalProperties": False,
        },
    },
}
REQUEST: Row = {"messages": [{"role": "user", "content": "Go."}], "tools": [READ], "tool_choice": "auto"}

VALID = '{"path":"a"}'
MENDABLE = '{"path":"a","limit":"5"}'
DAMAGED = '{"path":7}'


def begin(guard: str = "retry", request: Row = REQUEST, **options: Any) -> GuardedExchange:
    config = {"preset": "agent", "guard": guard, **options}
    exchange = KimiTransformer.from_config(config, model=K2).begin(request)
    assert isinstance(exchange, GuardedExchange)
    return exchange


def read_call(arguments: str = VALID, number: int = 0, name: str = "read") -> Row:
    return call(f"functions.{name}:{number}", name, arguments)


def calls_answer(*calls: Row, content: str | None = None, **more: Any) -> Row:
    return answer({"content": content, "tool_calls": list(calls)}, "tool_calls", **more)


def streamed(*calls: Row, text: str = "", reason: str = "tool_calls", index: int = 0, id_: str = "c") -> list[Item]:
    """The chunks of a stream with this text and these calls."""
    items: list[Item] = [_chunk({"role": "assistant", "content": text}, None, index, id_)] if text else []
    for position, each in enumerate(calls):
        function = each["function"]
        first = {**each, "index": position, "function": {**function, "arguments": ""}}
        items.append(_chunk({"tool_calls": [first]}, None, index, id_))
        for part in (function["arguments"][:5], function["arguments"][5:]):
            items.append(
                _chunk({"tool_calls": [{"index": position, "function": {"arguments": part}}]}, None, index, id_)
            )
    return [*items, _chunk({}, reason, index, id_)]


def _chunk(delta: Row, reason: str | None, index: int, id_: str) -> Chunk:
    made = chunk(delta, reason, index)
    return Chunk({**made.payload, "id": id_}, b"raw")


def fed(exchange: GuardedExchange, items: list[Item]) -> list[Item]:
    return [left for item in [*items, Done()] for left in exchange.feed(item)]


def shown(items: list[Item]) -> tuple[str, list[tuple[str, str, str]], list[Any]]:
    """The text, the calls and the finish reasons that left."""
    text, calls, reasons = "", dict[int, list[str]](), list[Any]()
    for item in items:
        for choice in item.payload["choices"] if isinstance(item, Chunk) else ():
            delta = choice["delta"]
            text += delta.get("content") or ""
            for entry in delta.get("tool_calls") or ():
                slot = calls.setdefault(entry["index"], ["", "", ""])
                slot[0] += entry.get("id") or ""
                slot[1] += entry["function"].get("name") or ""
                slot[2] += entry["function"].get("arguments") or ""
            if choice["finish_reason"] is not None:
                reasons.append(choice["finish_reason"])
    return text, [(each[0], each[1], each[2]) for each in calls.values()], reasons
