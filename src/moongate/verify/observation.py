"""What one answer shows, in the words that are counted. Pure.

`observed(completion, request)` looks at the first choice, as Moonshot's verifier does. `calls_valid` is its
`tool_calls_valid`: only of answers that finish with `tool_calls`. `faults` counts what it does not see, too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from moongate.kimi.family import IdRule
from moongate.kimi.guard.tool_schemas import ToolSchemas
from moongate.kimi.ids import CallIds
from moongate.kimi.options import KimiOptions
from moongate.payload import JsonObject, loads

CALLS: Final = "tool_calls"
_MARKERS: Final = re.compile(
    r"<\|(?:tool_calls?_section_(?:begin|end)|tool_call_(?:begin|end|argument_begin)|open|close|sep|im_end)\|>"
)
_CODE: Final = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_SHAPES: Final = (
    ("functions.name:n", re.compile(r"functions\..+:[0-9]+")),
    ("call_…", re.compile(r"call_.*")),
    ("toolu_…", re.compile(r"toolu_.*")),
    ("chatcmpl-tool-…", re.compile(r"chatcmpl-tool-.*")),
    ("functions_name_n", re.compile(r"functions_.+_[0-9]+")),
    ("name:n", re.compile(r".+:[0-9]+")),
    ("a number", re.compile(r"[0-9]+")),
)
# From the worst: the first fault of an answer is the one that an example is shown for.
FAULTS: Final = (
    *("failed", "empty_turn", "nameless", "unknown_tool", "invalid_json", "schema_mismatch", "missing_call"),
    *("leaked_content", "leaked_reasoning", "wrong_finish", "false_finish", "no_finish", "bad_ids", "missing_usage"),
)
_CUT: Final = ("length", "content_filter")  # finish reasons that excuse what is missing


class CallFault(NamedTuple):
    """What is wrong with a call: one of `FAULTS`, and in words."""

    kind: str
    detail: str


@dataclass(frozen=True, slots=True)
class Observation:
    """One answer. `calls_valid` is None where Moonshot's verifier does not look; `calls_fit` is of any calls, None if
    there are none, or only the last one does not fit, which a limit has cut."""

    finish_reason: str | None
    calls: int
    calls_valid: bool | None
    calls_fit: bool | None
    faults: tuple[str, ...]
    id_shapes: tuple[str, ...]
    details: tuple[str, ...] = ()  # of calls that do not fit


def observed(
    completion: JsonObject, request: JsonObject, schemas: ToolSchemas, id_rule: IdRule = IdRule.TOOL_NAME
) -> Observation:
    """`id_rule` says which ids the model can read in its history."""
    choice = _first(completion.get("choices"))
    message = choice.get("message")
    message = message if isinstance(message, dict) else {}
    calls = _calls(message)
    finish = choice.get("finish_reason")
    finish = finish if isinstance(finish, str) else None
    offered = offered_parameters(request)
    each = [call_fault(call, offered, schemas) for call in calls]
    cut = bool(each) and each[-1] is not None and finish in _CUT  # no fault of the vendor's, and says nothing of a fit
    found = [fault for fault in (each[:-1] if cut else each) if fault is not None]
    faults = {*(fault.kind for fault in found), *_leaks(message), *_turn_faults(message, calls, finish, request)}
    if _has_bad_ids(calls, request, id_rule):
        faults.add("bad_ids")
    if usage_due(request) and not isinstance(completion.get("usage"), dict):
        faults.add("missing_usage")
    return Observation(
        finish,
        len(calls),
        not found if finish == CALLS and calls else None,
        not found if calls and not (cut and not found) else None,
        tuple(fault for fault in FAULTS if fault in faults),
        tuple(_shape(call) for call in calls),
        tuple(fault.detail for fault in found),
    )


def offered_parameters(request: JsonObject) -> dict[str, object]:
    """The schemas of the functions that a request offers, by name; those inside messages, too."""
    messages = request.get("messages")
    sources = [request, *(each for each in (messages if isinstance(messages, list) else ()) if isinstance(each, dict))]
    found: dict[str, object] = {}
    for source in sources:
        tools = source.get("tools")
        for tool in tools if isinstance(tools, list) else ():
            function = tool.get("function") if isinstance(tool, dict) else None
            if isinstance(function, dict) and isinstance(function.get("name"), str):
                found.setdefault(function["name"], function.get("parameters"))  # as K2-Vendor-Verifier reads it
    return found


def usage_due(request: JsonObject) -> bool:
    """A whole answer has its usage; a stream only if that was asked for."""
    options = request.get("stream_options")
    return request.get("stream") is not True or (isinstance(options, dict) and options.get("include_usage") is True)


def call_fault(call: JsonObject, offered: Mapping[str, object], schemas: ToolSchemas) -> CallFault | None:
    """What is wrong with a call: its name, its JSON or its fit."""
    function = call.get("function")
    function = function if isinstance(function, dict) else {}
    name, arguments = function.get("name"), function.get("arguments")
    if not name:
        return CallFault("nameless", "a call without a name")
    if name not in offered:
        return CallFault("unknown_tool", f"{name} was not offered")
    try:
        value: Any = loads(arguments) if isinstance(arguments, str) else arguments
    except ValueError:
        return CallFault("invalid_json", f"the arguments of {name} are not JSON")
    wrong = schemas.of(offered[name]).mismatch(value)
    return None if wrong is None else CallFault("schema_mismatch", f"{name}: {wrong}")


def _leaks(message: JsonObject) -> list[str]:
    fields = {"leaked_content": ("content",), "leaked_reasoning": ("reasoning_content", "reasoning")}
    texts = {fault: "".join(str(message.get(name) or "") for name in names) for fault, names in fields.items()}
    return [fault for fault, text in texts.items() if "<|" in text and _MARKERS.search(_CODE.sub("", text))]


def _turn_faults(message: JsonObject, calls: list[JsonObject], finish: str | None, request: JsonObject) -> list[str]:
    faults = []
    if not calls and not message.get("content") and finish not in _CUT:
        faults.append("empty_turn")
    required = request.get("tool_choice") == "required" or isinstance(request.get("tool_choice"), dict)
    if not calls and required and finish not in _CUT:
        faults.append("missing_call")
    if calls and finish not in (CALLS, *_CUT):
        faults.append("wrong_finish")
    elif not calls and finish in (CALLS, None):
        faults.append("no_finish" if finish is None else "false_finish")
    return faults


def _has_bad_ids(calls: list[JsonObject], request: JsonObject, id_rule: IdRule) -> bool:
    """Whether an id has to be repaired (section 3), after the history that was asked with."""
    ids = CallIds(KimiOptions(), id_rule)
    messages = request.get("messages")
    for message in messages if isinstance(messages, list) else ():
        for call in _calls(message):
            ids.claim(*_id_and_name(call))
    named = [(given, name) for given, name in map(_id_and_name, calls) if name]  # without a name it is no call
    return any(ids.claim(given, name) != given for given, name in named)


def _calls(message: object) -> list[JsonObject]:
    given = message.get("tool_calls") if isinstance(message, dict) else None
    return [call for call in given if isinstance(call, dict)] if isinstance(given, list) else []


def _id_and_name(call: JsonObject) -> tuple[str, str]:
    given, function = call.get("id"), call.get("function")
    name = function.get("name") if isinstance(function, dict) else None
    return given if isinstance(given, str) else "", name if isinstance(name, str) else ""


def _shape(call: JsonObject) -> str:
    given = call.get("id")
    if not isinstance(given, str) or not given:
        return "empty" if given == "" else "missing"
    return next((shape for shape, pattern in _SHAPES if pattern.fullmatch(given)), "another")


def _first(choices: object) -> JsonObject:
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        found: JsonObject = choices[0]
        return found
    return {}
