"""What a verdict needs of answers of OpenAI's responses API."""

from __future__ import annotations

from typing import Any, Final

from moongate.dialects.openai_responses.declared_tools import declared_tools, flat_name, function_of
from moongate.dialects.openai_responses.reasoning import reasoning_text
from moongate.native.answer import DeclaredSchemas, NativeAnswer
from moongate.payload import JsonObject

_ENDS: Final = ("response.completed", "response.incomplete")
_CALLS: Final = ("function_call", "custom_tool_call")


class ResponsesReader:
    """Implements `AnswerReader`. An item that is done is told whole, and all of them again at the end."""

    def declared(self, body: JsonObject) -> DeclaredSchemas:
        schemas: dict[str, object] = {}
        only_calls = True
        for each in declared_tools(body):
            if each.called is None or each.called.kind not in ("function", "custom"):
                only_calls = False
                continue
            schema = function_of(each.tool).get("parameters") if each.called.kind == "function" else None
            schemas[flat_name(each.called.name, each.called.namespace)] = schema
            schemas.setdefault(each.called.name, None)  # without its namespace: known, but not checked
        return DeclaredSchemas(schemas, only_calls)

    def reply(self, body: JsonObject, answer: NativeAnswer) -> None:
        output = body.get("output")
        if isinstance(output, list) and output:
            answer.clear()
            for at, item in enumerate(output):
                _begin(item, at, answer)
                _end(item, at, answer)
        answer.reason, answer.failed = _reason(body), body.get("status") == "failed"

    def event(self, event: JsonObject, answer: NativeAnswer) -> None:
        kind = event.get("type")
        if kind in ("response.output_text.delta", "response.refusal.delta"):
            answer.has_content = answer.has_content or bool(event.get("delta"))
        elif kind == "response.output_item.added":
            _begin(event.get("item"), event.get("output_index"), answer)
        elif kind == "response.output_item.done":
            _end(event.get("item"), event.get("output_index"), answer)
        elif kind == "response.failed":
            answer.failed = True
        elif kind in _ENDS and isinstance(event.get("response"), dict):
            self.reply(event["response"], answer)


def _reason(body: JsonObject) -> str:
    """One that is not complete was cut by its limit, its filter or its client, or runs in the background."""
    if body.get("status") in (None, "completed"):
        return "stop"
    details = body.get("incomplete_details")
    return "content_filter" if isinstance(details, dict) and details.get("reason") == "content_filter" else "length"


def _begin(item: Any, index: object, answer: NativeAnswer) -> None:
    kind = item.get("type") if isinstance(item, dict) else None
    if kind in _CALLS:
        space, name = item.get("namespace"), item.get("name")
        if isinstance(space, str) and space and isinstance(name, str) and name:
            name = flat_name(name, space)
        answer.begin_call(index, name, custom=kind == "custom_tool_call")


def _end(item: Any, index: object, answer: NativeAnswer) -> None:
    if not isinstance(item, dict):
        return
    kind = item.get("type")
    if kind in _CALLS:
        if not answer.is_open(index):
            _begin(item, index, answer)
        answer.add_arguments(index, item.get("arguments"))
        if item.get("status") != "incomplete":
            answer.end_call(index)
    elif kind == "reasoning":
        answer.add_text("reasoning", reasoning_text(item))
    elif kind in (None, "message"):
        content = item.get("content")
        for part in content if isinstance(content, list) else ():
            if isinstance(part, dict):
                answer.add_text("content", part.get("text") or part.get("refusal"))
    else:
        answer.has_content = True  # a tool of the provider's own, or something that is not known yet
