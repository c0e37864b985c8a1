"""The check of an answer's calls against the client's own schemas, after the answer (sections 13 and 14).

With the guard off an answer leaves without it. Who wants to know runs the check later, in a thread.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from moongate.chat.verdict import Verdict
from moongate.kimi.answer.argument_names import ArgumentNames
from moongate.kimi.answer.context import AnswerContext
from moongate.kimi.answer.judge import Judge, JudgedCall
from moongate.kimi.request.tools import OfferedTools
from moongate.payload import JsonObject, loads

if TYPE_CHECKING:
    from moongate.kimi.guard.check import CheckSteps


def schema_check(answer: AnswerContext) -> Callable[[], Verdict] | None:
    """What gives the verdict with `schema_mismatch`; None if the answer has no calls. Only when the answer is over."""
    judge, tools, names = answer.judge, answer.tool_set.tools, answer.names.properties
    if not judge.calls or not isinstance(tools, OfferedTools):
        return None
    return lambda: checked(judge, tools.parameters, ArgumentNames(names) if names else None)


def checked(judge: Judge, parameters: Mapping[str, object], restore: ArgumentNames | None = None) -> Verdict:
    """The verdict with every call checked against the schema of its tool."""
    from moongate.kimi.guard.check import SPARE_STEPS, CheckSteps  # needed here only, and large

    steps = CheckSteps(SPARE_STEPS)
    for index, calls in list(judge.calls.items()):
        judged = [call._replace(misfit=_misfits(call, parameters, restore, steps)) for call in calls]
        judge.choice(index, judged, judge.ends[index])
    return judge.verdict()


def _misfits(
    call: JudgedCall, parameters: Mapping[str, object], restore: ArgumentNames | None, steps: CheckSteps
) -> bool:
    """Whether the arguments are JSON for an offered function, and do not fit its schema."""
    from moongate.kimi.guard.tool_schemas import ToolSchema  # needed here only, and large

    if call.custom or call.name not in parameters:
        return False
    try:
        value = loads(call.arguments if restore is None else _restored(call, restore))
    except ValueError:
        return False
    steps.add_for(call.arguments)
    return ToolSchema(parameters[call.name]).mismatch(value, steps) is not None


def _restored(call: JudgedCall, names: ArgumentNames) -> str:
    """The arguments with the client's own names of properties: the provider was sent others."""
    entry: JsonObject = {"function": {"name": call.name, "arguments": call.arguments}}
    message = names.message({"tool_calls": [entry]})
    assert isinstance(message, dict)
    text: str = message["tool_calls"][0]["function"]["arguments"]
    return text
