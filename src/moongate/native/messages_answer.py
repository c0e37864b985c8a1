"""What a verdict needs of answers of Anthropic's messages API."""

from __future__ import annotations

from typing import Any, Final

from moongate.dialects.anthropic_messages.tools import chat_tool, declared_tools
from moongate.native.answer import DeclaredSchemas, NativeAnswer
from moongate.payload import JsonObject, dumps

_REASONS: Final = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "pause_turn": "length",  # the next request goes on with this turn
    "refusal": "content_filter",
}
_TEXTS: Final = {"text": "content", "thinking": "reasoning"}  # the channels of blocks with text


class MessagesReader:
    """Implements `AnswerReader`."""

    def declared(self, body: JsonObject) -> DeclaredSchemas:
        schemas: dict[str, object] = {}
        only_calls = True
        for _, tool, _ in declared_tools(body):
            written = chat_tool(tool, "")
            function = tool if written is None else written["function"]
            schemas[str(function.get("name"))] = function.get("parameters")
            only_calls = only_calls and written is not None
        return DeclaredSchemas(schemas, only_calls)

    def reply(self, body: JsonObject, answer: NativeAnswer) -> None:
        content = body.get("content")
        for at, block in enumerate(content if isinstance(content, list) else ()):
            _begin(block, at, answer)
            answer.end_call(at)
        answer.reason = _reason(body.get("stop_reason"))

    def event(self, event: JsonObject, answer: NativeAnswer) -> None:
        kind, index = event.get("type"), event.get("index")
        if kind == "content_block_delta":
            delta = event.get("delta")
            if isinstance(delta, dict):
                _add(delta, index, answer)
        elif kind == "content_block_start":
            _begin(event.get("content_block"), index, answer)
        elif kind == "content_block_stop":
            answer.end_call(index)
        elif kind == "message_delta":
            delta = event.get("delta")
            if isinstance(delta, dict) and "stop_reason" in delta:
                answer.reason = _reason(delta["stop_reason"])


def _reason(reason: object) -> str | None:
    return _REASONS.get(reason, reason) if isinstance(reason, str) else None


def _begin(block: Any, index: object, answer: NativeAnswer) -> None:
    kind = block.get("type") if isinstance(block, dict) else None
    if kind == "tool_use":
        answer.begin_call(index, block.get("name"), _arguments(block))
    elif isinstance(kind, str) and kind in _TEXTS:
        answer.add_text(_TEXTS[kind], block.get(kind))
    elif kind is not None and kind != "redacted_thinking":
        answer.has_content = True  # a tool of the provider's own, or something that is not known yet


def _add(delta: JsonObject, index: object, answer: NativeAnswer) -> None:
    kind = delta.get("type")
    if kind == "input_json_delta":
        answer.add_arguments(index, delta.get("partial_json"))
    elif kind == "text_delta":
        answer.add_text("content", delta.get("text"))
    elif kind == "thinking_delta":
        answer.add_text("reasoning", delta.get("thinking"))


def _arguments(block: JsonObject) -> bytes:
    """The arguments in a block, empty if it has none: a string is what was not read as JSON."""
    given = block.get("input")
    return b"" if given is None or isinstance(given, str) else dumps(given)
