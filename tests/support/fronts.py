"""The three front doors as a client sees them: how to ask, how to read an answer, how to go on with results.

Written apart from the code under test, on purpose: a mistake there must not be repeated here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

JsonObject = dict[str, Any]


@dataclass(slots=True)
class Called:
    id: str = ""
    name: str = ""
    arguments: str = ""
    index: int = 0


@dataclass(slots=True)
class Answer:
    """What a client has understood."""

    text: str = ""
    reasoning: str = ""
    calls: list[Called] = field(default_factory=list)
    finish: str | None = None
    ended: bool = False  # the dialect's own mark of a good end was there
    error: Any = None
    said: list[Any] = field(default_factory=list)  # what goes back into the history
    late: bool = False  # something came after the end


@dataclass(frozen=True, slots=True)
class Tool:
    name: str
    parameters: JsonObject


class Front(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def path(self) -> str: ...

    def ask(self, model: str, history: list[Any], tools: Sequence[Tool], *, stream: bool) -> JsonObject: ...

    def user(self, text: str) -> list[Any]: ...

    def read(self, body: bytes, *, stream: bool) -> Answer: ...

    def results(self, results: Sequence[tuple[str, str]]) -> list[Any]: ...


def events(body: bytes) -> Iterator[tuple[str, str]]:
    """Server-sent events: (event, data). Comments and events without data are left out."""
    text = body.decode("utf-8").removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    for block in text.split("\n\n"):
        name, data = "", []
        for line in block.split("\n"):
            key, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if key == "event":
                name = value
            elif key == "data":
                data.append(value)
        if data:
            yield name, "\n".join(data)


def _input(text: str) -> Any:
    """A call's input; text that was cut is kept as text."""
    try:
        return json.loads(text or "{}")
    except ValueError:
        return text


class Chat:
    name: Final = "chat"
    path: Final = "/v1/chat/completions"

    def ask(self, model: str, history: list[Any], tools: Sequence[Tool], *, stream: bool) -> JsonObject:
        offered = [{"type": "function", "function": {"name": t.name, "parameters": t.parameters}} for t in tools]
        return {"model": model, "messages": history, "stream": stream} | ({"tools": offered} if offered else {})

    def user(self, text: str) -> list[Any]:
        return [{"role": "user", "content": text}]

    def results(self, results: Sequence[tuple[str, str]]) -> list[Any]:
        return [{"role": "tool", "tool_call_id": identity, "content": text} for identity, text in results]

    def read(self, body: bytes, *, stream: bool) -> Answer:
        answer = self._stream(body) if stream else self._whole(body)
        calls = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in answer.calls
        ]
        message: JsonObject = {"role": "assistant", "content": answer.text or None}
        answer.said = [message | ({"tool_calls": calls} if calls else {})]
        return answer

    def _whole(self, body: bytes) -> Answer:
        told = json.loads(body)
        if "error" in told:
            return Answer(error=told["error"])
        choice = told["choices"][0]
        message = choice["message"]
        calls = [
            Called(call["id"], call["function"]["name"], call["function"]["arguments"])
            for call in message.get("tool_calls") or []
        ]
        reasoning = message.get("reasoning_content") or message.get("reasoning") or ""
        finish = choice["finish_reason"]
        return Answer(message.get("content") or "", reasoning, calls, finish, finish is not None)

    def _stream(self, body: bytes) -> Answer:
        answer = Answer()
        for _, data in events(body):
            if answer.ended or answer.error:
                answer.late = True
            if data == "[DONE]":
                answer.ended = True
                continue
            told = json.loads(data)
            if "error" in told:
                answer.error = told["error"]
                continue
            for choice in told.get("choices") or []:
                if choice["index"] == 0:
                    self._delta(answer, choice)
        return answer

    def _delta(self, answer: Answer, choice: JsonObject) -> None:
        delta = choice.get("delta") or {}
        answer.text += delta.get("content") or ""
        answer.reasoning += delta.get("reasoning_content") or delta.get("reasoning") or ""
        for part in delta.get("tool_calls") or []:
            assert isinstance(part["index"], int), "every part of a call says which call it is of"
            call = self._called(answer, part["index"])
            function = part.get("function") or {}
            assert not (call.id and part.get("id")), "an id comes once"
            call.id = call.id or part.get("id") or ""
            call.name = call.name or function.get("name") or ""
            call.arguments += function.get("arguments") or ""
        if choice.get("finish_reason"):
            assert answer.finish is None, "a choice finishes once"
            answer.finish = choice["finish_reason"]

    def _called(self, answer: Answer, index: int) -> Called:
        """The call with this index; a new one if there is none."""
        call = next((call for call in answer.calls if call.index == index), None)
        if call is None:
            call = Called(index=index)
            answer.calls.append(call)
        return call


class Messages:
    name: Final = "messages"
    path: Final = "/v1/messages"

    def ask(self, model: str, history: list[Any], tools: Sequence[Tool], *, stream: bool) -> JsonObject:
        offered = [{"name": t.name, "input_schema": t.parameters} for t in tools]
        body: JsonObject = {"model": model, "max_tokens": 4096, "messages": history, "stream": stream}
        return body | ({"tools": offered} if offered else {})

    def user(self, text: str) -> list[Any]:
        return [{"role": "user", "content": text}]

    def results(self, results: Sequence[tuple[str, str]]) -> list[Any]:
        blocks = [{"type": "tool_result", "tool_use_id": identity, "content": text} for identity, text in results]
        return [{"role": "user", "content": blocks}]

    def read(self, body: bytes, *, stream: bool) -> Answer:
        answer = Answer()
        blocks = self._stream(body, answer) if stream else self._whole(body, answer)
        for block in blocks:
            if block["type"] == "text":
                answer.text += block["text"]
            elif block["type"] == "thinking":
                answer.reasoning += block["thinking"]
            elif block["type"] == "tool_use":
                answer.calls.append(Called(block["id"], block["name"], json.dumps(block["input"])))
        answer.said = [{"role": "assistant", "content": blocks}]
        return answer

    def _whole(self, body: bytes, answer: Answer) -> list[JsonObject]:
        told = json.loads(body)
        if told.get("type") == "error":
            answer.error = told["error"]
            return []
        answer.finish = told["stop_reason"]
        answer.ended = answer.finish is not None
        content: list[JsonObject] = told["content"]
        return content

    def _stream(self, body: bytes, answer: Answer) -> list[JsonObject]:
        blocks: list[JsonObject] = []
        partial = ""
        for name, data in events(body):
            told = json.loads(data)
            assert name == told["type"], "the event line names the type"
            if answer.ended or answer.error:
                answer.late = True
            match name:
                case "content_block_start":
                    assert told["index"] == len(blocks), "blocks are numbered in order"
                    blocks.append(dict(told["content_block"]))
                    partial = ""
                case "content_block_delta":
                    partial += self._delta(blocks[told["index"]], told["delta"])
                case "content_block_stop":
                    if blocks[told["index"]]["type"] == "tool_use":
                        blocks[told["index"]]["input"] = _input(partial)
                case "message_delta":
                    answer.finish = told["delta"]["stop_reason"]
                case "message_stop":
                    answer.ended = True
                case "error":
                    answer.error = told["error"]
        return blocks

    def _delta(self, block: JsonObject, delta: JsonObject) -> str:
        """Adds a delta to its block; a piece of a call's input is returned."""
        if delta["type"] == "input_json_delta":
            return str(delta["partial_json"])
        field_name = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}[delta["type"]]
        block[field_name] = block.get(field_name, "") + delta[field_name]
        return ""


class Responses:
    name: Final = "responses"
    path: Final = "/v1/responses"

    def ask(self, model: str, history: list[Any], tools: Sequence[Tool], *, stream: bool) -> JsonObject:
        offered = [{"type": "function", "name": t.name, "parameters": t.parameters} for t in tools]
        body: JsonObject = {"model": model, "input": history, "stream": stream, "store": False}
        return body | ({"tools": offered} if offered else {})

    def user(self, text: str) -> list[Any]:
        return [{"role": "user", "content": text}]

    def results(self, results: Sequence[tuple[str, str]]) -> list[Any]:
        return [{"type": "function_call_output", "call_id": identity, "output": text} for identity, text in results]

    def read(self, body: bytes, *, stream: bool) -> Answer:
        answer = Answer()
        told = self._last(body, answer) if stream else json.loads(body)
        if told is None:
            return answer
        if told.get("error"):
            answer.error = told["error"]
            return answer
        answer.finish = told["status"]
        answer.ended = answer.finish in ("completed", "incomplete")
        answer.said = told["output"]
        for item in told["output"]:
            if item["type"] == "message":
                answer.text += "".join(part["text"] for part in item["content"])
            elif item["type"] == "function_call":
                answer.calls.append(Called(item["call_id"], item["name"], item["arguments"]))
        return answer

    def _last(self, body: bytes, answer: Answer) -> JsonObject | None:
        """The response of the terminal event; the pieces before it must add up to the same texts."""
        pieces, number, last = "", -1, None
        for name, data in events(body):
            told = json.loads(data)
            assert name == told["type"], "the event line names the type"
            assert told["sequence_number"] == number + 1, "events are numbered without a gap"
            number += 1
            answer.late = answer.late or last is not None or answer.error is not None
            if name == "response.output_text.delta":
                pieces += told["delta"]
            elif name in ("response.completed", "response.incomplete", "response.failed"):
                last = told["response"]
            elif name == "error":
                answer.error = told.get("error") or told
        if last is not None and not last.get("error"):
            items = [item for item in last["output"] if item["type"] == "message"]
            assert pieces == "".join(part["text"] for item in items for part in item["content"])
        return last


FRONTS: Final[tuple[Front, ...]] = (Chat(), Messages(), Responses())
