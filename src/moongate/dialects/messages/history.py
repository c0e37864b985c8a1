"""Anthropic's messages → chat messages.

A user message may hold tool results: they become tool messages, and stand before its text, directly behind the
calls. Neighbouring assistant messages are one turn at Anthropic's, so they become one chat message.
"""

from __future__ import annotations

from typing import Any

from moongate.dialects.messages.content import (
    REDACTED,
    blocks_of,
    is_billing,
    joined,
    part_of,
    parts_of,
    result_content,
    unknown_text,
)
from moongate.dialects.messages.ids import given_id
from moongate.errors import BadRequest
from moongate.payload import JsonObject, dumps_text


def chat_messages(body: JsonObject) -> list[JsonObject]:
    """`system` and `messages` as chat messages. Raises BadRequest with the path of the culprit."""
    given = body.get("messages")
    if not given or not isinstance(given, list):
        raise BadRequest("must be a list of at least one message", path="messages")
    messages: list[JsonObject] = []
    _read_system(body.get("system"), "system", messages)
    turn: _Turn | None = None
    for index, message in enumerate(given):
        if not isinstance(message, dict):
            raise BadRequest("must be an object", path=f"messages[{index}]")
        role, content, path = message.get("role"), message.get("content"), f"messages[{index}].content"
        if role == "assistant":
            turn = turn or _Turn()
            turn.read(blocks_of(content, path), path)
            continue
        if turn is not None:
            messages.append(turn.message())
            turn = None
        if role == "user":
            _read_user(content, path, messages)
        elif role in ("system", "developer"):
            _read_system(content, path, messages)
        else:
            raise BadRequest("must be user, assistant or system", path=f"messages[{index}].role")
    if turn is not None:
        messages.append(turn.prefill())
    if not messages:
        raise BadRequest("must say something", path="messages")
    return messages


def _read_system(content: Any, path: str, messages: list[JsonObject]) -> None:
    blocks = [block for block in blocks_of(content, path) if not is_billing(block)]
    if parts := parts_of(blocks):
        messages.append({"role": "system", "content": joined(parts)})


def _read_user(content: Any, path: str, messages: list[JsonObject]) -> None:
    if content and isinstance(content, str):
        messages.append({"role": "user", "content": content})
        return
    others: list[JsonObject] = []
    for index, block in enumerate(blocks_of(content, path)):
        if block.get("type") != "tool_result":
            others.append(block)
            continue
        place = f"{path}[{index}]"
        call = block.get("tool_use_id")
        if not call or not isinstance(call, str):
            raise BadRequest("must be the id of a tool_use block", path=f"{place}.tool_use_id")
        result = result_content(block, place)
        messages.append({"role": "tool", "tool_call_id": given_id(call), "content": result})
    if parts := parts_of(others):
        messages.append({"role": "user", "content": joined(parts)})


class _Turn:
    """One assistant turn, collected from one or several messages."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._thinking: list[str] = []
        self._calls: list[JsonObject] = []
        self._last = ""  # kind of the block before

    def read(self, blocks: list[JsonObject], path: str) -> None:
        for index, block in enumerate(blocks):
            kind = block.get("type")
            if kind == "text" and not block.get("text"):
                continue
            if kind == "tool_use":
                self._calls.append(_call(block, f"{path}[{index}]"))
            elif kind == "thinking":
                self._think(block.get("thinking"))
            elif kind == "redacted_thinking":
                self._think(REDACTED)
            else:
                self._say(block)
            self._last = str(kind)

    def _think(self, text: Any) -> None:
        if text and isinstance(text, str):
            self._thinking.append(text)

    def _say(self, block: JsonObject) -> None:
        """Neighbouring texts are one text in pieces (citations cut it so); others are paragraphs of their own."""
        text = part_of(block).get("text")
        if text is None:  # an image: nothing that a chat assistant could have said
            text = unknown_text(block)
        if self._texts and not (self._last == "text" == block.get("type")):
            self._texts.append("\n\n")
        self._texts.append(text)

    def message(self) -> JsonObject:
        """The turn as one chat message."""
        text = "".join(self._texts)
        message: JsonObject = {"role": "assistant", "content": text}
        if self._thinking:
            message["reasoning_content"] = "".join(self._thinking)
        if self._calls:
            message["content"] = text or None
            message["tool_calls"] = self._calls
        return message

    def prefill(self) -> JsonObject:
        """The turn at the very end: the model goes on writing it, which Kimi calls `partial`."""
        message = self.message()
        if message["content"] and not self._calls:
            message["partial"] = True
        return message


def _call(block: JsonObject, path: str) -> JsonObject:
    name, given = block.get("name"), block.get("id")
    if not name or not isinstance(name, str):
        raise BadRequest("must be the name of a tool", path=f"{path}.name")
    if not given or not isinstance(given, str):
        raise BadRequest("must be the id of the call", path=f"{path}.id")
    arguments = block.get("input")
    text = dumps_text({} if arguments is None else arguments)
    return {"id": given_id(given), "type": "function", "function": {"name": name, "arguments": text}}
