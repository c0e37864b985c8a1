"""What a client sees of a stream: server-sent events put together, and the checks on them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

Row = dict[str, Any]


@dataclass
class Seen:
    """One choice."""

    index: int
    content: str = ""
    reasoning: str = ""
    calls: dict[int, Row] = field(default_factory=dict)
    finish_reason: str | None = None
    message: Any = None

    def told(self) -> Row:
        return {
            "index": self.index,
            "content": _whole(self.content),
            "reasoning": _whole(self.reasoning),
            "tool_calls": list(self.calls.values()),
            "finish_reason": self.finish_reason,
        }


@dataclass
class Assembly:
    """One stream."""

    choices: dict[int, Seen] = field(default_factory=dict)
    usage: Any = None
    done: bool = False
    error: Any = None
    chunks: list[Row] = field(default_factory=list)
    call_deltas: list[tuple[int, Row]] = field(default_factory=list)

    def told(self) -> list[Row]:
        return [self.choices[index].told() for index in sorted(self.choices)]


def _whole(text: str) -> str:
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def events_of(data: bytes) -> list[str]:
    """The data of each event, read by a second implementation: line by line, on text."""
    text = data.decode("utf-8")
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    events: list[str] = []
    current: list[str] = []
    for line in lines:
        if line == "":
            if current:
                events.append("\n".join(current))
            current = []
        elif line.startswith("data:"):
            current.append(line[5:].removeprefix(" "))
    return [event for event in events if event]


def assemble(data: bytes, *, whole: bool = True) -> Assembly:
    """Put the output of a session together; `whole` asks for exactly one `[DONE]`, at the end (or an error)."""
    seen = Assembly()
    for event in events_of(data):
        assert not seen.done, f"after [DONE]: {event}"
        if event == "[DONE]":
            seen.done = True
            continue
        payload = json.loads(event)
        assert seen.error is None, f"after the error: {event}"
        if payload.get("error"):
            seen.error = payload["error"]
            continue
        _take(seen, payload)
    if whole:
        assert seen.done or seen.error is not None
    return seen


def _take(seen: Assembly, payload: Row) -> None:
    seen.chunks.append(payload)
    if payload.get("usage") is not None:
        seen.usage = payload["usage"]
    for choice in payload.get("choices") or ():
        one = seen.choices.setdefault(choice["index"], Seen(choice["index"]))
        delta = choice.get("delta") or {}
        one.content += delta.get("content") or ""
        one.reasoning += delta.get("reasoning_content") or delta.get("reasoning") or ""
        for entry in delta.get("tool_calls") or ():
            seen.call_deltas.append((one.index, entry))
            _take_call(one, entry)
        if choice.get("finish_reason") is not None:
            assert one.finish_reason is None, "a second finish reason"
            one.finish_reason = choice["finish_reason"]
        if "message" in choice:
            assert one.message is None
            assert choice["delta"] == {}
            assert choice.get("finish_reason") is not None
            one.message = choice["message"]


def _take_call(one: Seen, entry: Row) -> None:
    call = one.calls.setdefault(entry["index"], {"id": "", "name": "", "arguments": ""})
    function = entry.get("function") or {}
    for key, value in (("id", entry.get("id")), ("name", function.get("name"))):
        if value:
            assert call[key] in ("", value), f"{key}: {call[key]} and {value}"
            call[key] = value
    call["arguments"] += function.get("arguments") or ""


def check_call_deltas(seen: Assembly) -> None:
    """The form of section 5.10."""
    known: dict[int, int] = {}
    for choice, entry in seen.call_deltas:
        count = known.setdefault(choice, 0)
        if entry["index"] == count:
            known[choice] += 1
            assert set(entry) == {"index", "id", "type", "function"}
            assert entry["id"]
            assert entry["type"] == "function"
            assert set(entry["function"]) == {"name", "arguments"}
            assert entry["function"]["arguments"] == ""
        else:
            assert entry["index"] < count
            assert set(entry) == {"index", "function"}
            assert set(entry["function"]) == {"arguments"}
