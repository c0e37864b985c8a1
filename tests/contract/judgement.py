"""What a row expects, compared with what came."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, Final

from tests.contract.cases import BY_ID, Assembled, ContractCase, JsonObject

TYPES: Final[dict[str, Any]] = {"string": str, "number": (int, float), "object": dict, "any": object}
NEEDS_WEIGHTS: Final = {"think.keep-recall"}  # what it says can only come from a real model

Again = Callable[[ContractCase], Assembled]  # asks another row in the same way


def faults(case: ContractCase, answer: Assembled, again: Again) -> list[str]:
    """Everything in which the answer misses what the row expects."""
    return list(_faults(case, answer, again))


def _faults(case: ContractCase, answer: Assembled, again: Again) -> Iterator[str]:
    expect = case.expect
    if expect["status"] != 200:
        if answer.status != expect["status"]:
            yield f"status {answer.status}, not {expect['status']}"
        return
    if answer.status != 200:
        yield f"status {answer.status}: {answer.error}"
        return
    if "finish_reason" in expect and answer.finish != expect["finish_reason"]:
        yield f"finish reason {answer.finish!r}, not {expect['finish_reason']!r}"
    yield from _calls(expect.get("calls", {}), [call["name"] for call in answer.calls])
    if case.id not in NEEDS_WEIGHTS:
        yield from _content(expect.get("content", {}), answer.content)
    yield from _reasoning(expect.get("reasoning", {}), answer, again)
    yield from _usage(expect.get("usage", {}), answer, again)


def _calls(expect: JsonObject, names: list[str]) -> Iterator[str]:
    if not expect.get("min", 0) <= len(names) <= expect.get("max", len(names)):
        yield f"{len(names)} calls"
    if "first_in" in expect and (not names or names[0] not in expect["first_in"]):
        yield f"the first call of {names}"
    if not set(expect.get("include", ())) <= set(names):
        yield f"calls {names}"


def _content(expect: JsonObject, content: str | None) -> Iterator[str]:
    if expect and not isinstance(content, str):
        yield f"content {content!r}"
        return
    text = content or ""
    if expect.get("nonempty") and not text:
        yield "empty content"
    wanted = expect.get("contains", [])
    if not all(each in text for each in ([wanted] if isinstance(wanted, str) else wanted)):
        yield f"content {text!r}"
    if any(each in text for each in expect.get("without", ())):
        yield f"content {text!r}"
    if "json" in expect:
        value = json.loads(text)
        if not isinstance(value, TYPES[expect["json"]]):
            yield f"content {text!r}"
        for key, kind in expect.get("keys", {}).items():
            if key not in value or not isinstance(value[key], TYPES[kind]):
                yield f"{key} in {text!r}"


def _reasoning(expect: JsonObject, answer: Assembled, again: Again) -> Iterator[str]:
    present = expect.get("present")
    if present is True and not answer.reasoning_key:
        yield "no reasoning"
    if isinstance(present, str) and answer.reasoning:
        yield f"reasoning {answer.reasoning!r}"
    if "length" not in expect:
        return
    own, other = _length(answer), _length(again(BY_ID[expect["than"]]))
    if expect["length"] == "nearest":
        others = [abs(own - _length(again(BY_ID[each]))) for each in expect["among"]]
        good = abs(own - other) == min(others)
    else:
        good = own > other if expect["length"] == "longer" else own < other
    if not good:
        yield f"{own} characters of reasoning, {other} in {expect['than']}"


def _usage(expect: JsonObject, answer: Assembled, again: Again) -> Iterator[str]:
    if not expect:
        return
    prompt = (answer.usage or {}).get("prompt_tokens")
    if not isinstance(prompt, int):
        yield f"usage {answer.usage!r}"
        return
    than = expect["prompt_tokens"].get("than")
    if than is not None:
        other = (again(BY_ID[than]).usage or {})["prompt_tokens"]
        if prompt <= other:
            yield f"{prompt} prompt tokens, {other} in {than}"


def _length(answer: Assembled) -> int:
    return len(answer.reasoning or "")
