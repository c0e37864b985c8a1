"""A client of the responses front."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from tests.support.front import JsonObject, ReadAnswer, ReadCall, Tool, events


class Responses:
    name: Final = "responses"
    path: Final = "/v1/responses"

    def request(self, model: str, history: list[Any], tools: Sequence[Tool], *, stream: bool) -> JsonObject:
        offered = [{"type": "function", "name": t.name, "parameters": t.parameters} for t in tools]
        body: JsonObject = {"model": model, "input": history, "stream": stream, "store": False}
        return body | ({"tools": offered} if offered else {})

    def user(self, text: str) -> list[Any]:
        return [{"role": "user", "content": text}]

    def results(self, results: Sequence[tuple[str, str]]) -> list[Any]:
        return [{"type": "function_call_output", "call_id": call_id, "output": text} for call_id, text in results]

    def read(self, body: bytes, *, stream: bool) -> ReadAnswer:
        answer = ReadAnswer()
        payload = self._last(body, answer) if stream else json.loads(body)
        if payload is None:
            return answer
        if payload.get("error"):
            answer.error = payload["error"]
            return answer
        answer.finish = payload["status"]
        answer.ended = answer.finish in ("completed", "incomplete")
        answer.history = payload["output"]
        for item in payload["output"]:
            if item["type"] == "message":
                answer.text += "".join(part["text"] for part in item["content"])
            elif item["type"] == "function_call":
                answer.calls.append(ReadCall(item["call_id"], item["name"], item["arguments"]))
        return answer

    def _last(self, body: bytes, answer: ReadAnswer) -> JsonObject | None:
        """The response of the last event; the text deltas before it must add up to its texts."""
        pieces, number, last = "", -1, None
        for name, data in events(body):
            payload = json.loads(data)
            assert name == payload["type"], "the event line names the type"
            assert payload["sequence_number"] == number + 1, "events are numbered without a gap"
            number += 1
            answer.late = answer.late or last is not None or answer.error is not None
            if name == "response.output_text.delta":
                pieces += payload["delta"]
            elif name in ("response.completed", "response.incomplete", "response.failed"):
                last = payload["response"]
            elif name == "error":
                answer.error = payload.get("error") or payload
        if last is not None and not last.get("error"):
            items = [item for item in last["output"] if item["type"] == "message"]
            assert pieces == "".join(part["text"] for item in items for part in item["content"])
        return last
