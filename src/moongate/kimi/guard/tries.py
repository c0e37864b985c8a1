"""What is asked when an answer is damaged: the same again, then the same with what was wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from moongate.kimi.guard.calls import GuardedCall
from moongate.payload import JsonObject

MAX_FURTHER_TRIES: Final = 2
# Damage that another try may mend. A call that was cut, or markup that is visible, is none of it.
TRIED_AGAIN: Final = frozenset(
    {"empty_turn", "invalid_json", "missing_call", "nameless", "schema_mismatch", "unknown_tool"}
)
NEVER_TRIED_AGAIN: Final = frozenset({"length", "content_filter"})  # finish reasons

NOT_RUN: Final = "not run: another call of this turn was invalid"
_AGAIN: Final = "error: {}. The call was not run. Make the call again, corrected."

Step = Literal["same", "errors"]


def steps_for(request: JsonObject) -> tuple[Step, ...]:
    """The further tries, in order. The same request would give the same answer if the client fixed the sampling."""
    is_fixed = request.get("seed") is not None or request.get("temperature") == 0
    return ("errors",) if is_fixed else ("same", "errors")


def with_errors(request: JsonObject, message: JsonObject, calls: Sequence[GuardedCall], seed: int | None) -> JsonObject:
    """The request behind a damaged answer: with that turn and a result for each of its calls.

    Without a call there is nothing to answer: the same request, with this seed if there is one.
    """
    entries = message.get("tool_calls")
    if not calls or not isinstance(entries, list) or len(entries) != len(calls):
        return request if seed is None else {**request, "seed": seed}
    results = [
        {"role": "tool", "tool_call_id": entry.get("id"), "content": result_of(call)}
        for entry, call in zip(entries, calls, strict=True)
    ]
    turn = {"role": "assistant", **message}
    return {**request, "messages": [*request["messages"], turn, *results]}


def result_of(call: GuardedCall) -> str:
    """What the model is told in the place of a result."""
    return _AGAIN.format(call.error) if call.error else NOT_RUN
