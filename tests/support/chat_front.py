"""A client of the chat front."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from tests.support.front import JsonObject, ReadAnswer, ReadCall, Tool, events


class Chat:
    name: Final = "chat"
    path: Final = "/v1/chat/completions"

    def request(self, model: str, history: list[Any], tools: Sequence[Tool], *, stream: bool) -> JsonObject:
        offered = [{"type": "function", "function": {"name": t.name, "parameters": t.parameters}} for t in tools]
        return {"model": model, "messages": history, "stream": stream} | ({"tools": offered} if offered else {})

    def user(self, text: str) -> list[Any]:
        return [{"role": "user", "content": text}]

    def results(self, results: Sequence[tuple[str, str]]) -> list[Any]:
        return [{"role": "tool", "tool_call_id": call_id, "content": text} for call_id, text in results]

    def read(self, body: bytes, *, stream: bool) -> ReadAnswer:
        answer = self._stream(body) if stream else self._whole(body)
        calls = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in answer.calls
        ]
        message: JsonObject = {"role": "assistant", "content": answer.text or None}
        answer.history = [message | ({"tool_calls": calls} if calls else {})]
        return answer

    def _whole(self, body: bytes) -> ReadAnswer:
        payload = json.loads(body)
        if "error" in payload:
            return ReadAnswer(error=payload["error"])
        choice = payload["choices"][0]
        message = choice["message"]
        calls = [
            ReadCall(call["id"], call["function"]["name"], call["function"]["arguments"])
            for call in message.get("tool_calls") or []
        ]
        reasoning = message.get("reasoning_content") or message.get("reasoning") or ""
        finish = choice["finish_reason"]
        return ReadAnswer(message.get("content") or "", reasoning, calls, finish, finish is not None)

    def _stream(self, body: bytes) -> ReadAnswer:
        answer = ReadAnswer()
        for _, data in events(body):
            if answer.ended or answer.error:
                answer.late = True
            if data == "[DONE]":
                answer.ended = True
                continue
            payload = json.loads(data)
            if "error" in payload:
                answer.error = payload["error"]
                continue
            for choice in payload.get("choices") or []:
                if choice["index"] == 0:
                    self._delta(answer, choice)
        return answer

    def _delta(self, answer: ReadAnswer, choice: JsonObject) -> None:
        delta = choice.get("delta") or {}
        answer.text += delta.get("content") or ""
        answer.reasoning += delta.get("reasoning_content") or delta.get("reasoning") or ""
        for part in delta.get("tool_calls") or []:
            assert isinstance(part["index"], int), "every delta of a call has an index"
            call = self._called(answer, part["index"])
            function = part.get("function") or {}
            assert not (call.id and part.get("id")), "only one delta of a call has an id"
            call.id = call.id or part.get("id") or ""
            call.name = call.name or function.get("name") or ""
            call.arguments += function.get("arguments") or ""
        if choice.get("finish_reason"):
            assert answer.finish is None, "only one finish reason per choice"
            answer.finish = choice["finish_reason"]

    def _called(self, answer: ReadAnswer, index: int) -> ReadCall:
        """The call with this index; a new one if there is none."""
        call = next((call for call in answer.calls if call.index == index), None)
        if call is None:
            call = ReadCall(index=index)
            answer.calls.append(call)
        return call
