"""What a row of the contract says of an answer."""

from __future__ import annotations

from typing import Any

import pytest

from moongate.verify.contract_check import broken_rules

CALL = {"function": {"name": "look"}}


def _completion(finish: str = "stop", usage: bool = True, **message: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"choices": [{"message": message, "finish_reason": finish}]}
    return {**found, "usage": {}} if usage else found


@pytest.mark.parametrize(
    ("expect", "completion", "said"),
    [
        ({}, _completion(), []),
        ({"finish_reason": "stop"}, _completion("length"), ["finish_reason 'length' instead of 'stop'"]),
        ({"usage": {"at": "top"}}, _completion(usage=False), ["no usage at the top"]),
        ({"reasoning": {"present": True}}, _completion(), ["no reasoning"]),
        ({"reasoning": {"present": True}}, _completion(reasoning=None), []),
        ({"calls": {"min": 1}}, _completion(), ["0 calls instead of at least 1"]),
        ({"calls": {"max": 0}}, _completion(tool_calls=[CALL]), ["1 calls instead of at most 0"]),
        ({"calls": {"first_in": ["see"]}}, _completion(tool_calls=[CALL]), ["a call of 'look' instead of see"]),
        ({"calls": {"include": ["look", "see"]}}, _completion(tool_calls=[CALL]), ["no call of see"]),
        ({"content": {"nonempty": True}}, _completion(content=""), ["no text"]),
        ({"content": {"type": "string"}}, _completion(content=None), ["no text"]),
        ({"content": {"contains": "7"}}, _completion(content="6"), ["'7' is not in the text"]),
        ({"content": {"contains": ["6", "7"]}}, _completion(content="67"), []),
        ({"content": {"without": ["\n"]}}, _completion(content="a\n"), ["'\\n' is in the text"]),
        ({"content": {"json": True}}, _completion(content="{"), ["the text is not JSON"]),
        ({"content": {"json": True}}, _completion(content="[]"), ["the text is no JSON object"]),
        (
            {"content": {"json": True, "keys": {"a": "string", "b": "any"}}},
            _completion(content='{"a": 1}'),
            ["the JSON has no fitting 'b'", "the JSON has no fitting 'a'"],
        ),
        ({"content": {"json": True, "keys": {"a": "number"}}}, _completion(content='{"a": 1.5}'), []),
        ({}, {"choices": "none"}, []),
        ({"calls": {"min": 1}}, {"choices": [{"message": 1}]}, ["0 calls instead of at least 1"]),
    ],
)
def test_what_is_not_as_the_row_says(expect: dict[str, Any], completion: dict[str, Any], said: list[str]) -> None:
    assert broken_rules(expect, 200, completion) == said


def test_statuses() -> None:
    assert broken_rules({"status": 400}, 400, None) == []
    assert broken_rules({"status": 400}, 200, _completion()) == ["status 200 instead of 400"]
    assert broken_rules({}, 500, None) == ["status 500 instead of 200"]
    assert broken_rules({}, 200, None) == ["no answer"]
