"""What one answer shows: faults that K2-Vendor-Verifier does not see among them."""

from __future__ import annotations

from typing import Any

import pytest

from moongate.kimi.family import IdRule
from moongate.kimi.guard.tool_schemas import ToolSchemas
from moongate.verify.observation import Observation, observed, usage_due

TOOL = {"function": {"name": "look", "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}}}}
REQUEST: dict[str, Any] = {"messages": [], "tools": [TOOL]}


def _call(arguments: Any = '{"n": 1}', name: Any = "look", call_id: Any = "functions.look:0") -> dict[str, Any]:
    return {"id": call_id, "function": {"name": name, "arguments": arguments}}


def _seen(
    message: Any,
    finish: Any = "tool_calls",
    request: dict[str, Any] = REQUEST,
    id_rule: IdRule = IdRule.TOOL_NAME,
    usage: Any = {},  # noqa: B006
) -> Observation:
    completion = {"choices": [{"message": message, "finish_reason": finish}], "usage": usage}
    return observed(completion, request, ToolSchemas(), id_rule)


@pytest.mark.parametrize(
    ("call", "fault", "detail"),
    [
        (_call(name=""), "nameless", "a call without a name"),
        (_call(name="see", call_id="functions.see:0"), "unknown_tool", "see was not offered"),
        (_call(arguments="{"), "invalid_json", "the arguments of look are not JSON"),
        (_call(arguments='{"n": "x"}'), "schema_mismatch", "look: n: must be integer"),
        ({"id": "functions.look:0", "function": 1}, "nameless", "a call without a name"),
    ],
)
def test_calls_that_do_not_fit(call: dict[str, Any], fault: str, detail: str) -> None:
    seen = _seen({"tool_calls": [call]})
    assert seen.faults == (fault,)
    assert seen.details[0].startswith(detail)
    assert (seen.calls_valid, seen.calls_fit) == (False, False)


@pytest.mark.parametrize("finish", ["length", "content_filter"])
def test_what_a_limit_has_cut_is_no_fault(finish: str) -> None:
    cut = _seen({"tool_calls": [_call(), _call(arguments='{"n', call_id="functions.look:1")]}, finish)
    assert (cut.faults, cut.details, cut.calls_fit) == ((), (), None)
    before = _seen({"tool_calls": [_call(arguments="{"), _call(call_id="functions.look:1")]}, finish)
    assert (before.faults, before.calls_fit) == (("invalid_json",), False)
    assert _seen({"tool_calls": [_call()]}, finish).calls_fit is True
    assert _seen({"content": "x"}, finish, {**REQUEST, "tool_choice": "required"}).faults == ()


def test_arguments_may_be_an_object() -> None:
    assert _seen({"tool_calls": [_call(arguments={"n": 1})]}).faults == ()


@pytest.mark.parametrize(
    ("message", "finish", "faults"),
    [
        ({"tool_calls": [_call()]}, "tool_calls", ()),
        ({"tool_calls": [_call()]}, "stop", ("wrong_finish",)),
        ({"tool_calls": [_call()]}, None, ("wrong_finish",)),
        ({"tool_calls": [_call()]}, "length", ()),
        ({"content": "x"}, "tool_calls", ("false_finish",)),
        ({"content": "x"}, None, ("no_finish",)),
        ({"content": "x"}, "stop", ()),
        ({"content": ""}, "stop", ("empty_turn",)),
        ({"content": ""}, "content_filter", ()),
        (None, "stop", ("empty_turn",)),
        ({"content": "a <|tool_call_begin|> b"}, "stop", ("leaked_content",)),
        ({"content": "a `<|tool_call_begin|>` b"}, "stop", ()),
        ({"content": "a", "reasoning_content": "<|open|>"}, "stop", ("leaked_reasoning",)),
    ],
)
def test_turns(message: Any, finish: str | None, faults: tuple[str, ...]) -> None:
    seen = _seen(message, finish)
    assert seen.faults == faults
    assert seen.calls_valid is (True if finish == "tool_calls" and seen.calls else None)


def test_a_call_that_was_required_is_missed() -> None:
    for choice in ("required", {"type": "function"}):
        assert _seen({"content": "x"}, "stop", {**REQUEST, "tool_choice": choice}).faults == ("missing_call",)


@pytest.mark.parametrize(
    ("call_id", "shape"),
    [
        ("functions.look:0", "functions.name:n"),
        ("call_1", "call_…"),
        ("toolu_1", "toolu_…"),
        ("chatcmpl-tool-1", "chatcmpl-tool-…"),
        ("functions_look_0", "functions_name_n"),
        ("look:0", "name:n"),
        ("17", "a number"),
        ("x", "another"),
        ("", "empty"),
        (None, "missing"),
    ],
)
def test_shapes_of_ids(call_id: str | None, shape: str) -> None:
    seen = _seen({"tool_calls": [_call(call_id=call_id)]})
    assert seen.id_shapes == (shape,)
    assert ("bad_ids" in seen.faults) == (shape != "functions.name:n")
    k3 = _seen({"tool_calls": [_call(call_id=call_id)]}, id_rule=IdRule.UNIQUE)
    assert ("bad_ids" in k3.faults) == (not call_id)


def test_ids_are_bad_if_they_name_another_tool_or_do_not_rise() -> None:
    history = [{"tool_calls": [_call(), 1, {"function": 1}]}, "odd", {"tool_calls": 1}]
    request = {**REQUEST, "messages": history}
    for call_id, k2_is_bad, k3_is_bad in (
        ("functions.look:7", False, False),
        ("functions.look:0", True, True),
        ("functions.see:7", True, False),
    ):
        calls = {"tool_calls": [_call(call_id=call_id)]}
        assert ("bad_ids" in _seen(calls, request=request).faults) == k2_is_bad
        assert ("bad_ids" in _seen(calls, request=request, id_rule=IdRule.UNIQUE).faults) == k3_is_bad
    assert "bad_ids" in _seen({"tool_calls": [_call(), _call()]}, id_rule=IdRule.UNIQUE).faults


def test_of_two_tools_with_one_name_the_first_counts() -> None:
    other = {"function": {"name": "look", "parameters": {"required": ["m"]}}}
    assert _seen({"tool_calls": [_call()]}, request={"tools": [TOOL, other]}).faults == ()


def test_usage_is_due_unless_a_stream_was_not_asked_for_it() -> None:
    streamed = {**REQUEST, "stream": True}
    asked = {**streamed, "stream_options": {"include_usage": True}}
    assert [usage_due(each) for each in (REQUEST, streamed, asked)] == [True, False, True]
    for request, faults in ((REQUEST, ("missing_usage",)), (streamed, ()), (asked, ("missing_usage",))):
        assert _seen({"content": "x"}, "stop", request, usage=None).faults == faults


def test_tools_in_messages_are_offered_and_odd_answers_are_read() -> None:
    request = {"messages": [{"role": "system", "tools": [TOOL, 1, {"function": {}}]}, "odd"], "tools": "none"}
    assert _seen({"tool_calls": [_call()]}, request=request).faults == ()
    assert observed({"choices": [], "usage": {}}, {}, ToolSchemas()).faults == ("empty_turn", "no_finish")
    assert _seen({"content": "x"}, 7).faults == ("no_finish",)
