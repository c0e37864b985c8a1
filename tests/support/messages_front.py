"""A client of the messages front."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from tests.support.front import JsonObject, ReadAnswer, ReadCall, Tool, events


def _input(text: str) -> Any:
    """The input of a call; truncated JSON is kept as text."""
    try:
        return json.loads(text or "{}")
    except ValueError:
        return text


class Messages:
    name: Final = "messages"
    path: Final = "/v1/messages"

    def request(self, model: str, history: list[Any], tools: Sequence[Tool], *, stream: bool) -> JsonObject:
        offered = [{"name": t.name, "input_schema": t.parameters} for t in tools]
        body: JsonObject = {"model": model, "max_tokens": 4096, "messages": history, "stream": stream}
        return body | ({"tools": offered} if offered else {})

    def user(self, text: str) -> list[Any]:
        return [{"role": "user", "content": text}]

    def results(self, results: Sequence[tuple[str, str]]) -> list[Any]:
        blocks = [{"type": "tool_result", "tool_use_id": call_id, "content": text} for call_id, text in results]
        return [{"role": "user", "content": blocks}]

    def read(self, body: bytes, *, stream: bool) -> ReadAnswer:
        answer = ReadAnswer()
        blocks = self._stream(body, answer) if stream else self._whole(body, answer)
        for block in blocks:
            if block["type"] == "text":
                answer.text += block["text"]
            elif block["type"] == "thinking":
                answer.reasoning += block["thinking"]
            elif block["type"] == "tool_use":
                answer.calls.append(ReadCall(block["id"], block["name"], json.dumps(block["input"])))
        answer.history = [{"role": "assistant", "content": blocks}]
        return answer

    def _whole(self, body: bytes, answer: ReadAnswer) -> list[JsonObject]:
        payload = json.loads(body)
        if payload.get("type") == "error":
            answer.error = payload["error"]
            return []
        answer.finish = payload["stop_reason"]
        answer.ended = answer.finish is not None
        content: list[JsonObject] = payload["content"]
        return content

    def _stream(self, body: bytes, answer: ReadAnswer) -> list[JsonObject]:
        blocks: list[JsonObject] = []
        partial = ""
        for name, data in events(body):
            payload = json.loads(data)
            assert name == payload["type"], "the event line names the type"
            if answer.ended or answer.error:
                answer.late = True
            match name:
                case "content_block_start":
                    assert payload["index"] == len(blocks), "blocks are numbered in order"
                    blocks.append(dict(payload["content_block"]))
                    partial = ""
                case "content_block_delta":
                    partial += self._delta(blocks[payload["index"]], payload["delta"])
                case "content_block_stop":
                    if blocks[payload["index"]]["type"] == "tool_use":
                        blocks[payload["index"]]["input"] = _input(partial)
                case "message_delta":
                    answer.finish = payload["delta"]["stop_reason"]
                case "message_stop":
                    answer.ended = True
                case "error":
                    answer.error = payload["error"]
        return blocks

    def _delta(self, block: JsonObject, delta: JsonObject) -> str:
        """Add a delta to its block; returns a piece of a call's input."""
        if delta["type"] == "input_json_delta":
            return str(delta["partial_json"])
        field_name = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}[delta["type"]]
        block[field_name] = block.get(field_name, "") + delta[field_name]
        return ""
