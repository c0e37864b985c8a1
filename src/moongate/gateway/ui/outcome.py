"""What an answer amounts to, whatever API it is written in: thinking, text, calls, and how it ends. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from moongate.gateway.ui.exchange_view import ShownEvent
from moongate.payload import JsonObject, dumps


@dataclass(slots=True)
class ShownCall:
    name: str = ""
    id: str = ""
    arguments: str = ""


@dataclass(slots=True)
class AnswerOutcome:
    """Of the first choice. `calls` are in their order, by whatever numbers them in the answer."""

    thinking: str = ""
    text: str = ""
    calls: dict[object, ShownCall] = field(default_factory=dict)
    end: str = ""
    error: str = ""

    def call(self, key: object) -> ShownCall:
        return self.calls.setdefault(key, ShownCall())


def outcome(events: Iterable[ShownEvent]) -> AnswerOutcome:
    """Events of a stream, or one whole answer."""
    found = AnswerOutcome()
    for event in events:
        value = event.value
        if not isinstance(value, dict):
            continue
        if value.get("error"):
            _error(found, value["error"])
        if isinstance(value.get("choices"), list):
            _chat(found, value["choices"])
        elif value.get("object") == "response":
            _response(found, value)
        elif isinstance(value.get("response"), dict) and value["response"].get("output"):
            _response(found, value["response"])
        else:
            _messages(found, value)
    return found


def _error(found: AnswerOutcome, error: Any) -> None:
    found.error = _text(error.get("message") if isinstance(error, dict) else error)


def _chat(found: AnswerOutcome, choices: list[Any]) -> None:
    for choice in choices:
        if not isinstance(choice, dict) or choice.get("index", 0) != 0:
            continue
        part = choice.get("delta") or choice.get("message")
        if isinstance(part, dict):
            found.text += _text(part.get("content"))
            found.thinking += _text(part.get("reasoning_content") or part.get("reasoning"))
            calls = part.get("tool_calls")
            for number, call in enumerate(calls if isinstance(calls, list) else []):
                _chat_call(found, call, number)
        found.end = _text(choice.get("finish_reason")) or found.end


def _chat_call(found: AnswerOutcome, call: Any, number: int) -> None:
    if not isinstance(call, dict):
        return
    shown = found.call(call["index"] if isinstance(call.get("index"), int) else number)
    function = call.get("function")
    shown.id = _text(call.get("id")) or shown.id
    if isinstance(function, dict):
        shown.name += _text(function.get("name"))
        shown.arguments += _text(function.get("arguments"))


def _messages(found: AnswerOutcome, value: JsonObject) -> None:
    """An event of Anthropic's API, or its whole message."""
    blocks = value.get("content")
    if isinstance(blocks, list):
        for number, block in enumerate(blocks):
            _block(found, block, number)
    _block(found, value.get("content_block"), value.get("index"))
    delta = value.get("delta")
    if isinstance(delta, dict):
        _block(found, {**delta, "type": ""}, value.get("index"))
        found.end = _text(delta.get("stop_reason")) or found.end
    found.end = _text(value.get("stop_reason")) or found.end


def _block(found: AnswerOutcome, block: Any, number: object) -> None:
    if not isinstance(block, dict):
        return
    found.text += _text(block.get("text"))
    found.thinking += _text(block.get("thinking"))
    if block.get("type") == "tool_use":
        shown = found.call(number)
        shown.name, shown.id = _text(block.get("name")), _text(block.get("id"))
        shown.arguments = _text(block.get("input")) if block.get("input") else ""
    if block.get("partial_json"):
        found.call(number).arguments += _text(block["partial_json"])


def _response(found: AnswerOutcome, response: JsonObject) -> None:
    """OpenAI's response, which the last event of its stream has whole."""
    for number, item in enumerate(response["output"] if isinstance(response.get("output"), list) else []):
        kind = item.get("type") if isinstance(item, dict) else None
        if kind == "function_call":
            call = ShownCall(_text(item.get("name")), _text(item.get("call_id")), _text(item.get("arguments")))
            found.calls[number] = call
        elif kind in ("message", "reasoning"):
            parts = [part for part in item.get("content") or item.get("summary") or [] if isinstance(part, dict)]
            text = "".join(_text(part.get("text")) for part in parts)
            found.text, found.thinking = (
                (found.text + text, found.thinking) if kind == "message" else (found.text, found.thinking + text)
            )
    found.end = _text(response.get("status")) or found.end


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else dumps(value).decode("utf-8", "replace")
