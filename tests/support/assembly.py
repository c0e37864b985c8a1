"""A chat stream as a client assembles it, and checks on its events."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

Row = dict[str, Any]


@dataclass
class AssembledChoice:
    """One choice of a stream."""

    index: int
    content: str = ""
    reasoning: str = ""
    calls: dict[int, Row] = field(default_factory=dict)
    finish_reason: str | None = None
    message: Any = None

    def summary(self) -> Row:
        return {
            "index": self.index,
            "content": _joined_surrogates(self.content),
            "reasoning": _joined_surrogates(self.reasoning),
            "tool_calls": list(self.calls.values()),
            "finish_reason": self.finish_reason,
        }


@dataclass
class AssembledStream:
    """One stream."""

    choices: dict[int, AssembledChoice] = field(default_factory=dict)
    usage: Any = None
    done: bool = False
    error: Any = None
    chunks: list[Row] = field(default_factory=list)
    call_deltas: list[tuple[int, Row]] = field(default_factory=list)
    order: list[str] = field(default_factory=list)  # the kinds of delta of choice 0, equal neighbours merged

    def summary(self) -> list[Row]:
        return [self.choices[index].summary() for index in sorted(self.choices)]


def _joined_surrogates(text: str) -> str:
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def events_of(data: bytes) -> list[str]:
    """The data of each event. Independent of the code under test: line by line, on decoded text."""
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


def assemble(data: bytes, *, whole: bool = True) -> AssembledStream:
    """Assemble the output of a session; `whole` requires exactly one `[DONE]` at the end, or an error."""
    seen = AssembledStream()
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
        _add_chunk(seen, payload)
    if whole:
        assert seen.done or seen.error is not None
    return seen


def _add_chunk(seen: AssembledStream, payload: Row) -> None:
    seen.chunks.append(payload)
    if payload.get("usage") is not None:
        seen.usage = payload["usage"]
    for choice in payload.get("choices") or ():
        one = seen.choices.setdefault(choice["index"], AssembledChoice(choice["index"]))
        delta = choice.get("delta") or {}
        if one.index == 0:
            _add_order(seen, delta)
        one.content += delta.get("content") or ""
        one.reasoning += delta.get("reasoning_content") or delta.get("reasoning") or ""
        for entry in delta.get("tool_calls") or ():
            seen.call_deltas.append((one.index, entry))
            _add_call(one, entry)
        if choice.get("finish_reason") is not None:
            assert one.finish_reason is None, "a second finish reason"
            one.finish_reason = choice["finish_reason"]
        if "message" in choice:
            assert one.message is None
            assert choice["delta"] == {}
            assert choice.get("finish_reason") is not None
            one.message = choice["message"]


def _add_order(seen: AssembledStream, delta: Row) -> None:
    reasoning = delta.get("reasoning_content") or delta.get("reasoning")
    values = {"reasoning": reasoning, "content": delta.get("content"), "tool_calls": delta.get("tool_calls")}
    for kind, value in values.items():
        if value and seen.order[-1:] != [kind]:
            seen.order.append(kind)


def _add_call(one: AssembledChoice, entry: Row) -> None:
    call = one.calls.setdefault(entry["index"], {"id": "", "name": "", "arguments": ""})
    body = entry.get("function") or entry.get("custom") or {}
    for key, value in (("id", entry.get("id")), ("name", body.get("name"))):
        if value:
            assert call[key] in ("", value), f"{key}: {call[key]} and {value}"
            call[key] = value
    call["arguments"] += body.get("arguments") or body.get("input") or ""


def check_call_deltas(seen: AssembledStream) -> None:
    """Calls have the form of section 5.10 of the specification."""
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
