"""Anthropic's messages → chat messages.

Tool results inside a user message become tool messages in front of its text, so that they follow their calls.
Consecutive assistant messages are one message for Anthropic, so they become one chat message.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from moongate.dialects.anthropic_messages.content import (
    REDACTED,
    blocks_of,
    is_billing,
    joined,
    only_text,
    part_of,
    parts_of,
    result_content,
    unknown_text,
)
from moongate.dialects.anthropic_messages.ids import provider_call_id
from moongate.dialects.anthropic_messages.tools import ADDITION
from moongate.errors import BadRequest
from moongate.payload import JsonObject, dumps_text
from moongate.wire.threads import EVERY, let_threads_run

_NO_TOOLS: Final[Sequence[JsonObject]] = ()


def chat_messages(body: JsonObject, loaded: Mapping[int, list[JsonObject]] | None = None) -> list[JsonObject]:
    """`system` and `messages` as chat messages. Raises BadRequest with the path of the invalid field.

    `loaded`: the chat tools that messages load, by their index. They become a message of their own, behind the results.
    """
    given = body.get("messages")
    if not given or not isinstance(given, list):
        raise BadRequest("must be a list of at least one message", path="messages")
    conversation = _MessageConverter()
    conversation.read_system(body.get("system"), "system")
    for index, message in enumerate(given):
        if not index % EVERY:
            let_threads_run()
        if not isinstance(message, dict):
            raise BadRequest("must be an object", path=f"messages[{index}]")
        try:
            conversation.read(message, loaded.get(index, _NO_TOOLS) if loaded else _NO_TOOLS)
        except BadRequest as error:
            raise BadRequest(error.message, path=f"messages[{index}].{error.path}") from None
    if not (messages := conversation.end()):
        raise BadRequest("must not be empty", path="messages")
    return messages


class _MessageConverter:
    """The chat messages so far. Messages of the assistant wait until one of another role comes."""

    def __init__(self) -> None:
        self._messages: list[JsonObject] = []
        self._assistant: _AssistantMessage | None = None
        self._tools: list[JsonObject] = []  # loaded, to be declared when the results are through

    def read(self, message: JsonObject, loaded: Sequence[JsonObject]) -> None:
        """One message. Raises BadRequest with the path of the invalid field inside of the message."""
        role, content = message.get("role"), message.get("content")
        if loaded:
            self._tools += loaded
        if role == "assistant":
            self._assistant = self._assistant or _AssistantMessage()
            self._assistant.read(blocks_of(content, "content"))
            return
        if self._assistant is not None:
            self._messages.append(self._assistant.message())
            self._assistant = None
        if role == "user":
            self._read_user(content)
        elif role in ("system", "developer"):
            self._declare_tools()
            self.read_system(content, "content")
        else:
            raise BadRequest("must be user, assistant or system", path="role")

    def end(self) -> list[JsonObject]:
        """All messages. If the last one is the assistant's, the model continues it."""
        self._declare_tools()
        if self._assistant is not None:
            self._messages.append(self._assistant.prefill())
        return self._messages

    def read_system(self, content: object, path: str) -> None:
        blocks = [block for block in blocks_of(content, path) if not is_billing(block)]
        self._add("system", blocks)

    def _read_user(self, content: object) -> None:
        others: list[JsonObject] = []
        for index, block in enumerate(blocks_of(content, "content")):
            if block.get("type") != "tool_result":
                others.append(block)
                continue
            call = block.get("tool_use_id")
            if not call or not isinstance(call, str):
                raise BadRequest("must be the id of a tool_use block", path=f"content[{index}].tool_use_id")
            result = result_content(block, index)
            self._messages.append({"role": "tool", "tool_call_id": provider_call_id(call), "content": result})
        self._declare_tools()
        self._add("user", others)

    def _add(self, role: str, blocks: list[JsonObject]) -> None:
        if text := only_text(blocks):
            self._messages.append({"role": role, "content": text})
        elif blocks and (parts := parts_of(block for block in blocks if block.get("type") != ADDITION)):
            self._messages.append({"role": role, "content": joined(parts)})

    def _declare_tools(self) -> None:
        if self._tools:
            self._messages.append({"role": "system", "tools": self._tools})
            self._tools = []


class _AssistantMessage:
    """One chat message of the assistant, collected from one or several Anthropic messages."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._thinking: list[str] = []
        self._calls: list[JsonObject] = []
        self._last = ""  # type of the previous block

    def read(self, blocks: list[JsonObject]) -> None:
        for index, block in enumerate(blocks):
            kind = block.get("type")
            if kind == "text" and not block.get("text"):
                continue
            if kind == "tool_use":
                self._calls.append(_call(block, index))
            elif kind == "thinking":
                self._add_thinking(block.get("thinking"))
            elif kind == "redacted_thinking":
                self._add_thinking(REDACTED)
            else:
                self._add_text(block)
            self._last = str(kind)

    def _add_thinking(self, text: object) -> None:
        if text and isinstance(text, str):
            self._thinking.append(text)

    def _add_text(self, block: JsonObject) -> None:
        """Consecutive texts are one text that citations have split; other blocks are separate paragraphs."""
        text = only_text([block])
        if text is None:
            text = part_of(block).get("text")
        if text is None:  # an image, which an assistant message of chat cannot hold
            text = unknown_text(block)
        if self._texts and not (self._last == "text" == block.get("type")):
            self._texts.append("\n\n")
        self._texts.append(text)

    def message(self) -> JsonObject:
        """The chat message."""
        text = "".join(self._texts)
        message: JsonObject = {"role": "assistant", "content": text}
        if self._thinking:
            message["reasoning_content"] = "".join(self._thinking)
        if self._calls:
            message["content"] = text or None
            message["tool_calls"] = self._calls
        return message

    def prefill(self) -> JsonObject:
        """The message as the last one of a request: the model continues it, which Kimi calls `partial`."""
        message = self.message()
        if message["content"] and not self._calls:
            message["partial"] = True
        return message


def _call(block: JsonObject, index: int) -> JsonObject:
    name, given = block.get("name"), block.get("id")
    if not name or not isinstance(name, str):
        raise BadRequest("must be the name of a tool", path=f"content[{index}].name")
    if not given or not isinstance(given, str):
        raise BadRequest("must be the id of the call", path=f"content[{index}].id")
    arguments = block.get("input")
    text = dumps_text({} if arguments is None else arguments)
    return {"id": provider_call_id(given), "type": "function", "function": {"name": name, "arguments": text}}
