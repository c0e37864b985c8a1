"""The suite's way of putting answers together: what it does not see, a vendor need not send, and the reverse."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final

from tests.contract.cases import Assembled, JsonObject

FINISHES: Final = ("stop", "length", "tool_calls", "content_filter", "function_call")


def sse_chunks(body: bytes) -> list[JsonObject]:
    """One JSON text for each `data:` line, up to [DONE]; lines end wherever Python's `splitlines` says."""
    chunks: list[JsonObject] = []
    for line in body.decode("utf-8").splitlines():
        if not line.startswith("data:"):
            continue
        data = line.removeprefix("data:").strip()
        if data == "[DONE]":
            break
        chunks.append(json.loads(data))
    return chunks


def from_document(document: JsonObject) -> Assembled:
    """A whole answer."""
    choice = document["choices"][0]
    message = choice["message"]
    calls = [
        {"id": call.get("id"), "name": call["function"]["name"], "arguments": call["function"]["arguments"]}
        for call in message.get("tool_calls") or []
    ]
    return Assembled(
        content=message.get("content"),
        reasoning=message.get("reasoning_content"),
        reasoning_key="reasoning_content" in message,
        calls=calls,
        finish=choice["finish_reason"],
        usage=document.get("usage"),
    )


def from_chunks(chunks: Iterable[JsonObject], *, add_names: bool = False) -> Assembled:
    """A stream: texts are joined, calls by index; the first name counts (`add_names`: all of them), the last id."""
    answer = Assembled()
    calls: dict[int, JsonObject] = {}
    content: list[str] = []
    reasoning: list[str] = []
    for chunk in chunks:
        answer.usage = chunk.get("usage") or answer.usage
        for choice in chunk.get("choices") or []:
            delta = choice.get("delta") or {}
            content.append(delta.get("content") or "")
            reasoning.append(delta.get("reasoning_content") or "")
            answer.finish = choice.get("finish_reason") or answer.finish
            for part in delta.get("tool_calls") or []:
                call = calls.setdefault(part.get("index", 0), {"id": None, "name": "", "arguments": ""})
                _add(call, part, add_names=add_names)
    answer.content = "".join(content) or None
    answer.reasoning = "".join(reasoning) or None
    answer.reasoning_key = answer.reasoning is not None
    answer.calls = [calls[index] for index in sorted(calls)]
    answer.finish = answer.finish or "stop"
    return answer


def _add(call: JsonObject, part: JsonObject, *, add_names: bool) -> None:
    function = part.get("function") or {}
    call["id"] = part.get("id") or call["id"]
    if add_names or not call["name"]:
        call["name"] += function.get("name") or ""
    call["arguments"] += function.get("arguments") or ""


def sdk_faults(answer: Assembled) -> list[str]:
    """What the SDK variant of the suite also checks."""
    found = [f"a call without {key}" for call in answer.calls for key in ("id", "name") if not call[key]]
    if answer.finish not in FINISHES:
        found.append(f"the finish reason {answer.finish!r}")
    counts: Any = answer.usage
    if counts is not None and not all(
        isinstance(counts.get(name), int) for name in ("prompt_tokens", "completion_tokens", "total_tokens")
    ):
        found.append("usage without all three counts")
    return found


def arguments_of(answer: Assembled, tool: str) -> str | None:
    """The arguments of the first call of this tool, as the schema suite reads them."""
    return next((call["arguments"] for call in answer.calls if call["name"] == tool), None)
