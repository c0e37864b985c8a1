from __future__ import annotations

import pytest

from moongate.kimi.notes import Notes
from moongate.kimi.request.reasoning import ReasoningRule
from moongate.payload import JsonObject

PLAIN = ReasoningRule()
MOONSHOT = ReasoningRule(fill_missing=True)
VLLM = ReasoningRule(both_names=True)


def applied(rule: ReasoningRule, message: JsonObject) -> tuple[JsonObject, Notes]:
    notes = Notes()
    before = dict(message)
    result = rule.apply(message, "messages[1]", notes)
    assert message == before
    assert (result is message) is (not notes)
    return result, notes


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (PLAIN, {"role": "assistant"}),
        (PLAIN, {"reasoning_content": "r"}),
        (PLAIN, {"reasoning_content": ""}),
        (PLAIN, {"reasoning_content": "r", "reasoning": "other", "reasoning_details": []}),
        (PLAIN, {"reasoning": ""}),
        (PLAIN, {"reasoning": 5, "reasoning_details": 5}),
        (PLAIN, {"reasoning_details": [{"type": "reasoning.encrypted", "data": "x"}]}),
        (MOONSHOT, {"reasoning_content": " "}),
        (MOONSHOT, {"reasoning_content": ["?"]}),
        (VLLM, {"reasoning_content": "r", "reasoning": "r"}),
        (VLLM, {}),
    ],
)
def test_what_the_host_accepts_is_unchanged(rule: ReasoningRule, message: JsonObject) -> None:
    assert applied(rule, message)[0] is message


@pytest.mark.parametrize(
    ("rule", "message", "expected"),
    [
        (PLAIN, {"reasoning": "r", "x": 1}, {"x": 1, "reasoning_content": "r"}),
        (PLAIN, {"reasoning_content": "", "reasoning": "r"}, {"reasoning_content": "r"}),
        (
            PLAIN,
            {"reasoning": "r", "reasoning_details": [{"text": "d"}]},
            {"reasoning_content": "r", "reasoning_details": [{"text": "d"}]},
        ),
        (PLAIN, {"reasoning_details": [{"text": "a"}, 5, {"data": "x"}, {"text": "b"}]}, {"reasoning_content": "ab"}),
        (MOONSHOT, {}, {"reasoning_content": " "}),
        (MOONSHOT, {"reasoning_content": None}, {"reasoning_content": " "}),
        (MOONSHOT, {"reasoning_content": ""}, {"reasoning_content": " "}),
        (MOONSHOT, {"reasoning": "r"}, {"reasoning_content": "r"}),
        (
            MOONSHOT,
            {"reasoning_details": [{"data": "x"}]},
            {"reasoning_details": [{"data": "x"}], "reasoning_content": " "},
        ),
        (VLLM, {"reasoning": "r"}, {"reasoning": "r", "reasoning_content": "r"}),
        (VLLM, {"reasoning_content": "r"}, {"reasoning": "r", "reasoning_content": "r"}),
        (VLLM, {"reasoning_details": [{"text": "d"}]}, {"reasoning": "d", "reasoning_content": "d"}),
    ],
)
def test_reasoning_moves_to_the_field_that_the_host_reads(
    rule: ReasoningRule, message: JsonObject, expected: JsonObject
) -> None:
    result, notes = applied(rule, message)
    assert result == expected
    assert [note.kind for note in notes] == ["reasoning"]
    assert notes[0].after == expected["reasoning_content"]


def test_a_second_pass_changes_nothing() -> None:
    for rule in (PLAIN, MOONSHOT, VLLM):
        once, _ = applied(rule, {"reasoning": "r"})
        assert applied(rule, once)[0] is once
