"""What one side of a sample is worth: the answer as it came (raw), or as the chain makes it (repaired). Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from moongate.kimi.family import IdRule
from moongate.kimi.guard.tool_schemas import ToolSchemas
from moongate.payload import JsonObject
from moongate.verify.answer_view import AnswerView
from moongate.verify.case import VerifyCase
from moongate.verify.contract_check import broken_rules
from moongate.verify.observation import CALLS, FAULTS, Observation, observed

MINOR_FAULTS: Final = frozenset({"bad_ids", "missing_usage"})  # faults that break no turn by themselves
NOTHING: Final = Observation(None, 0, None, None, ("failed",), ())


@dataclass(frozen=True, slots=True)
class CallCriteria:
    """What calls are checked against: the schemas of tools, and what ids the model can read."""

    id_rule: IdRule = IdRule.TOOL_NAME
    schemas: ToolSchemas = field(default_factory=ToolSchemas)


def judged(
    case: VerifyCase,
    status: int,
    seen: AnswerView | None,
    criteria: CallCriteria,
    whole: AnswerView | None = None,
) -> JsonObject:
    """One side, as a row keeps it. `whole`: the answer to the same request without a stream, of the suite `stream`."""
    completion = None if seen is None else seen.completion
    found = NOTHING if completion is None else observed(completion, case.request, criteria.schemas, criteria.id_rule)
    why = _why(case, status, seen, found, whole)
    return {
        "status": status,
        "finish_reason": found.finish_reason,
        "calls": found.calls,
        "calls_valid": found.calls_valid,
        "calls_fit": found.calls_fit,
        "faults": list(found.faults),
        "details": list(found.details),
        "id_shapes": list(found.id_shapes),
        "stream_faults": [] if seen is None else list(seen.faults),
        "worth": "failed" if seen is None else seen.verdict.worth,
        "passed": not why,
        "why": why,
    }


def _why(
    case: VerifyCase, status: int, seen: AnswerView | None, found: Observation, whole: AnswerView | None
) -> list[str]:
    """Why this side is not as it should be; nothing if it is."""
    if case.suite == "contract":
        return broken_rules(case.expect, status, None if seen is None else seen.completion)
    if found is NOTHING:
        return [seen.error if seen is not None and seen.error else f"status {status}"]
    why: list[str] = [fault for fault in FAULTS if fault in found.faults and fault not in MINOR_FAULTS]
    called = found.finish_reason == CALLS
    if case.due is not None and called != case.due and not why:
        why.append("a call was due" if case.due else "a needless call")
    if case.suite == "schema" and not found.calls and not why:
        why.append("no call")
    if case.suite == "stream":
        assert seen is not None
        why += seen.faults
        if whole is not None and shape(seen) != shape(whole):
            why.append(f"streamed {shape(seen)}, whole {shape(whole)}")
    return why


def shape(seen: AnswerView) -> str:
    """What of an answer must not depend on whether it is streamed: its calls by name, its finish reason."""
    choices = (seen.completion or {}).get("choices")
    choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    calls = (choice.get("message") or {}).get("tool_calls") or []
    names = [str((call.get("function") or {}).get("name")) for call in calls if isinstance(call, dict)]
    return f"{'+'.join(names) or 'text'}/{choice.get('finish_reason')}"
