"""Kimi's rules for requests and answers of OpenAI's responses API: ids, reasoning, schemas."""

from __future__ import annotations

from operator import is_
from typing import Any, Final

from moongate.dialects.openai_responses.reasoning import reasoning_text
from moongate.kimi.native_rules import NativeRules
from moongate.kimi.notes import Notes
from moongate.native.call_history import CallHistory
from moongate.native.tools import mended_tools
from moongate.payload import JsonObject

_CALL: Final = "function_call"
_RESULT: Final = "function_call_output"
_ENDS: Final = ("response.completed", "response.incomplete", "response.failed")


class ResponsesApi:
    """Implements `NativeApi`."""

    def request(
        self, body: JsonObject, chat: JsonObject, rules: NativeRules, calls: CallHistory, notes: Notes
    ) -> JsonObject:
        body = mended_tools(body, "parameters", rules, notes)
        items = body.get("input")
        if not isinstance(items, list):
            return body
        written = _ItemHistory(calls, fills=rules.fills_reasoning(chat)).written(items)
        if len(written) == len(items) and all(map(is_, written, items)):
            return body
        notes.add("id" if len(written) == len(items) else "reasoning", "input")
        return {**body, "input": written}

    def reply(self, body: JsonObject, calls: CallHistory | None) -> JsonObject:
        output = body.get("output")
        if calls is None or not isinstance(output, list):
            return body
        calls.begin_message()
        written = [_with_answer_id(item, calls) for item in output]
        return body if all(map(is_, written, output)) else {**body, "output": written}

    def event(self, event: JsonObject, calls: CallHistory | None) -> JsonObject:
        """An item comes several times: when it is added, when it is done, and in the whole answer at the end."""
        if calls is None:
            return event
        kind = event.get("type")
        if kind == "response.created":
            calls.begin_message()
        if kind in ("response.output_item.added", "response.output_item.done"):
            item = event.get("item")
            written = _with_answer_id_at(item, event.get("output_index"), calls)
            return event if written is item else {**event, "item": written}
        response = event.get("response")
        if (
            kind not in _ENDS
            or not isinstance(response, dict)
            or not isinstance(output := response.get("output"), list)
        ):
            return event
        items = [_with_answer_id_at(item, at, calls) for at, item in enumerate(output)]
        return event if all(map(is_, items, output)) else {**event, "response": {**response, "output": items}}

    def is_end(self, event: JsonObject) -> bool:
        return event.get("type") in _ENDS

    def error(self, event: JsonObject) -> str | None:
        if event.get("type") == "error":
            return str(event.get("message") or "the provider reported an error")
        response = event.get("response") if event.get("type") == "response.failed" else event
        error = response.get("error") if isinstance(response, dict) else None
        return str(error.get("message", "")) if isinstance(error, dict) else None

    def usage(self, body: JsonObject) -> JsonObject | None:
        response = body.get("response")
        usage = (response if isinstance(response, dict) else body).get("usage")
        if not isinstance(usage, dict):
            return None
        return {
            "prompt_tokens": usage.get("input_tokens"),
            "completion_tokens": usage.get("output_tokens"),
            "prompt_tokens_details": usage.get("input_tokens_details"),
            "completion_tokens_details": usage.get("output_tokens_details"),
        }


class _ItemHistory:
    """The items of a conversation: those of the assistant that follow each other are one message."""

    def __init__(self, calls: CallHistory, *, fills: bool) -> None:
        self._calls = calls
        self._fills = fills
        self._in_message = False
        self._has_reasoning = False

    def written(self, items: list[Any]) -> list[Any]:
        found: list[Any] = []
        for item in items:
            kind = item.get("type") if isinstance(item, dict) else None
            if kind in (_CALL, "reasoning") or (kind in (None, "message") and _role(item) == "assistant"):
                found += self._of_assistant(item, kind)
            else:
                self._in_message = False
                found.append(_result(item, self._calls) if kind == _RESULT else item)
        return found

    def _of_assistant(self, item: JsonObject, kind: str | None) -> list[JsonObject]:
        if not self._in_message:
            self._in_message, self._has_reasoning = True, False
            self._calls.begin_message()
        if kind == "reasoning":
            self._has_reasoning = self._has_reasoning or bool(reasoning_text(item) or item.get("encrypted_content"))
        if kind != _CALL:
            return [item]
        given = item.get("call_id")
        final = self._calls.call_id(given if isinstance(given, str) else "", str(item.get("name", "")))
        written = item if final == given else {**item, "call_id": final}
        if self._has_reasoning or not self._fills:
            return [written]
        self._has_reasoning = True
        content = [{"type": "reasoning_text", "text": " "}]  # for what the client has dropped
        return [{"type": "reasoning", "summary": [], "content": content}, written]


def _role(item: Any) -> object:
    return item.get("role") if isinstance(item, dict) else None


def _result(item: JsonObject, calls: CallHistory) -> JsonObject:
    given = item.get("call_id")
    final = calls.result_id(given) if isinstance(given, str) else given
    return item if final == given else {**item, "call_id": final}


def _with_answer_id(item: Any, calls: CallHistory) -> Any:
    if not isinstance(item, dict) or item.get("type") != _CALL:
        return item
    final = calls.answer_id(item.get("call_id"), str(item.get("name", "")))
    return item if final == item.get("call_id") else {**item, "call_id": final}


def _with_answer_id_at(item: Any, index: object, calls: CallHistory) -> Any:
    """The item with the id that it got when it came first."""
    if not isinstance(item, dict) or item.get("type") != _CALL:
        return item
    final = calls.answer_id_at(index if isinstance(index, int) else -1, item.get("call_id"), str(item.get("name", "")))
    return item if final == item.get("call_id") else {**item, "call_id": final}
