"""A whole completion as the row of blocks that a stream of it would be: the same blocks, the same limit, no events."""

from __future__ import annotations

from typing import Any

from moongate.dialects.answer import Finish, arguments_of, first_choice, head_of, reasoning_of, stop_of, text_of
from moongate.dialects.block import Block, Kind
from moongate.dialects.blocks import check_held
from moongate.payload import JsonObject, dumps, loads


class Whole:
    """What a completion says: its head, its blocks (each in one piece), how it ended. Only the first choice is read.

    `over`: so many blocks were over when the end of the answer came; in a stream it is the end that shuts the others.
    """

    __slots__ = ("blocks", "finish", "head", "over")

    def __init__(self, reply: JsonObject) -> None:
        """Raises BadUpstream where a stream would break."""
        self.head = head_of(reply)
        self.blocks: list[Block] = []
        self.over = 0
        choice = first_choice(reply) or {}
        message, called = choice.get("message"), False
        if isinstance(message, dict):
            if reasoning := reasoning_of(message):
                self._add("reasoning", reasoning)
            if text := text_of(message):
                self._add("text", text)
            self.over = max(len(self.blocks) - 1, 0)
            calls = message.get("tool_calls")
            if calls and isinstance(calls, list):
                called = self._read_calls(calls)
        reason, usage = choice.get("finish_reason"), reply.get("usage")
        self.finish = Finish(
            str(reason) if reason else "tool_calls" if called else "stop",
            stop_of(choice) if reason else None,
            usage if usage and isinstance(usage, dict) else None,
        )

    def _add(self, kind: Kind, text: str) -> Block:
        block = Block(kind, [text if text.isascii() else loads(dumps(text))])  # where two halves meet: one character
        self.blocks.append(block)
        return block

    def _read_calls(self, calls: list[Any]) -> bool:
        """Were there any? A call waits for its name and for the end of the block before it, and all behind it too."""
        last = self.blocks[-1] if self.blocks else None
        waits, held, called = False, 0, False
        for call in calls:
            if not isinstance(call, dict):
                continue
            called = True
            given, function = call.get("id"), call.get("function")
            name = function.get("name") if isinstance(function, dict) else None
            text = arguments_of(function) if isinstance(function, dict) else ""
            held += len(text)
            check_held(held)
            block = self._add("call", text)
            block.id = given if isinstance(given, str) else ""
            block.name = name if isinstance(name, str) else ""
            waits = waits or not block.name or (last is not None and not last.done())
            if not waits:
                last, held, self.over = block, 0, len(self.blocks) - 1
        return called
