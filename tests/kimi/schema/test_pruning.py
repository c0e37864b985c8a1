from __future__ import annotations

from typing import Any

from moongate.kimi.schema.keywords import MAX_PROPERTIES
from moongate.kimi.schema.pruning import MAX_NESTING, is_too_wide, pruned
from moongate.kimi.schema.step_budget import StepBudget
from moongate.payload import dumps


def test_a_root_with_too_many_properties_is_too_wide() -> None:
    assert is_too_wide({"properties": {f"{at}": {} for at in range(MAX_PROPERTIES + 1)}})
    assert not is_too_wide({"properties": {"a": {}}})
    assert not is_too_wide({"properties": 5})


def test_what_is_nested_too_deep_is_cut_off() -> None:
    deep: Any = 1
    for _ in range(5 * MAX_NESTING):
        deep = {"a": [deep]}
    root = {"b": {"c": [1]}, "d": deep}
    result = pruned(root, StepBudget())
    assert result["b"] == root["b"]
    assert dumps(result).count(b"[") == MAX_NESTING // 2
    assert b"true" in dumps(result)


def test_what_is_not_stays_the_same_object() -> None:
    root: dict[str, Any] = {"a": {"b": [{"c": []}]}}
    assert pruned(root, StepBudget()) is root
