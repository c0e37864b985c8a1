"""Kimi's rules for requests and answers of Anthropic's messages API: ids, thinking, schemas."""

from __future__ import annotations

from operator import is_
from typing import Any

from moongate.kimi.native_rules import NativeRules
from moongate.kimi.notes import Notes
from moongate.native.call_history import CallHistory
from moongate.native.tools import mended_tools
from moongate.payload import JsonObject


class MessagesApi:
    """Implements `NativeApi`."""

    def request(
        self, body: JsonObject, chat: JsonObject, rules: NativeRules, calls: CallHistory, notes: Notes
    ) -> JsonObject:
        body = mended_tools(body, "input_schema", rules, notes)
        messages, fills = body.get("messages"), rules.fills_reasoning(chat)
        if not isinstance(messages, list):
            return body
        written = [
            _message(each, f"messages[{at}]", calls, notes, fills=fills) if isinstance(each, dict) else each
            for at, each in enumerate(messages)
        ]
        return body if all(map(is_, written, messages)) else {**body, "messages": written}

    def reply(self, body: JsonObject, calls: CallHistory | None) -> JsonObject:
        content = body.get("content")
        if calls is None or not isinstance(content, list):
            return body
        calls.begin_message()
        written = [_with_answer_id(block, calls) for block in content]
        return body if all(map(is_, written, content)) else {**body, "content": written}

    def event(self, event: JsonObject, calls: CallHistory | None) -> JsonObject:
        kind = event.get("type")
        if calls is None:
            return event
        if kind == "message_start":
            calls.begin_message()
        block = event.get("content_block")
        if kind != "content_block_start" or (written := _with_answer_id(block, calls)) is block:
            return event
        return {**event, "content_block": written}

    def is_end(self, event: JsonObject) -> bool:
        return event.get("type") == "message_stop"

    def error(self, event: JsonObject) -> str | None:
        if event.get("type") != "error":
            return None
        error = event.get("error")
        return str(error.get("message", "")) if isinstance(error, dict) else "the provider reported an error"

    def usage(self, body: JsonObject) -> JsonObject | None:
        """Cached tokens are not among `input_tokens` here."""
        message = body.get("message")
        usage = (message if isinstance(message, dict) else body).get("usage")
        if not isinstance(usage, dict):
            return None
        read, written = (_count(usage.get(f"cache_{each}_input_tokens")) for each in ("read", "creation"))
        found: JsonObject = {"completion_tokens": _count(usage.get("output_tokens"))}
        if usage.get("input_tokens") is not None:
            found["prompt_tokens"] = _count(usage["input_tokens"]) + read + written
            found["prompt_tokens_details"] = {"cached_tokens": read, "cache_write_tokens": written}
        return found


def _message(message: JsonObject, path: str, calls: CallHistory, notes: Notes, *, fills: bool) -> JsonObject:
    content = message.get("content")
    if not isinstance(content, list):
        return message
    is_call = [isinstance(block, dict) and block.get("type") == "tool_use" for block in content]
    if message.get("role") == "assistant":
        calls.begin_message()
        written = [_call(block, calls) if call else block for call, block in zip(is_call, content, strict=True)]
        if fills and any(is_call):
            written = _with_thinking(written)
    else:
        written = [_result(block, calls) for block in content]
    if len(written) == len(content) and all(map(is_, written, content)):
        return message
    notes.add("id" if len(written) == len(content) else "reasoning", f"{path}.content")
    return {**message, "content": written}


def _call(block: JsonObject, calls: CallHistory) -> JsonObject:
    given = block.get("id")
    final = calls.call_id(given if isinstance(given, str) else "", str(block.get("name", "")))
    return block if final == given else {**block, "id": final}


def _result(block: Any, calls: CallHistory) -> Any:
    if (
        not isinstance(block, dict)
        or block.get("type") != "tool_result"
        or not isinstance(block.get("tool_use_id"), str)
    ):
        return block
    final = calls.result_id(block["tool_use_id"])
    return block if final == block["tool_use_id"] else {**block, "tool_use_id": final}


def _with_thinking(blocks: list[Any]) -> list[Any]:
    """With a blank where no thinking is: it stands for the thinking that the client has dropped."""
    for block in blocks:
        kind = block.get("type") if isinstance(block, dict) else None
        if kind == "redacted_thinking" or (kind == "thinking" and block.get("thinking")):
            return blocks
    rest = [block for block in blocks if not (isinstance(block, dict) and block.get("type") == "thinking")]
    return [{"type": "thinking", "thinking": " ", "signature": ""}, *rest]


def _with_answer_id(block: Any, calls: CallHistory) -> Any:
    if not isinstance(block, dict) or block.get("type") != "tool_use":
        return block
    final = calls.answer_id(block.get("id"), str(block.get("name", "")))
    return block if final == block.get("id") else {**block, "id": final}


def _count(value: object) -> int:
    return value if type(value) is int and value >= 0 else 0
