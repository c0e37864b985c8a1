"""What options of `moongate verify` mean: thresholds, budgets, baselines."""

from __future__ import annotations

from typing import Any

import pytest

from moongate.errors import ConfigError
from moongate.verify.baseline import data_case_rows, with_baseline
from moongate.verify.budget import RunBudget, parse_budget
from moongate.verify.case import VerifyCase, plan
from moongate.verify.thresholds import below, parse_thresholds


@pytest.mark.parametrize(
    ("text", "budget"),
    [
        ("2.50usd", RunBudget(micros=2_500_000)),
        ("$2", RunBudget(micros=2_000_000)),
        ("500k", RunBudget(tokens=500_000)),
        ("1.5M tokens", RunBudget(tokens=1_500_000)),
        (" 20000 ", RunBudget(tokens=20_000)),
    ],
)
def test_budgets(text: str, budget: RunBudget) -> None:
    assert parse_budget(text) == budget


@pytest.mark.parametrize("text", ["", "lots", "2eur", "$", "$k", "-5"])
def test_what_is_no_budget(text: str) -> None:
    with pytest.raises(ConfigError, match="--budget"):
        parse_budget(text)


def test_a_budget_is_used_up() -> None:
    assert not RunBudget().used_up(10**9, 10**9)
    assert [RunBudget(tokens=5).used_up(spent, 9) for spent in (4, 5)] == [False, True]
    assert [RunBudget(micros=5).used_up(9, spent) for spent in (4, 5)] == [False, True]


@pytest.mark.parametrize("text", ["schema", "beauty=1", "came.schema=1", "schema=x", "schema=1.1", "schema=-1"])
def test_what_is_no_threshold(text: str) -> None:
    with pytest.raises(ConfigError, match="--fail-under"):
        parse_thresholds(text)


def test_thresholds() -> None:
    rates = {side: {"rates": {"schema": {"value": value}}} for side, value in (("raw", 0.98), ("repaired", None))}
    wanted = parse_thresholds("schema=0.99, repaired.schema=0.5,")
    assert below(wanted, {"moongate": rates}) == [
        "schema is 0.9800, below 0.99",
        "repaired.schema was not measured (at least 0.5 is wanted)",
    ]
    assert below(parse_thresholds("schema=0.98"), {"moongate": rates}) == []


def test_baselines_by_case_and_by_line() -> None:
    planned = plan([VerifyCase("tools", "a", {}), VerifyCase("tools", "b", {}), VerifyCase("stream", "a", {})], 1, None)
    ours: list[dict[str, Any]] = [
        {"finish_reason": "tool_calls", "moongate": {"suite": "tools", "case": "a"}},
        {"status": "failed", "moongate": {"suite": "tools", "case": "b"}},
        {"finish_reason": "stop", "note": "neither ours nor theirs"},
    ]
    assert [each.case.due for each in with_baseline(planned, ours)] == [True, None, None]
    samples = plan([VerifyCase("data", "2", {}), VerifyCase("data", "5", {})], 2, None)
    assert [each.index for each in samples] == [2, 5, 7, 10]
    theirs = [{"data_index": 5, "finish_reason": "tool_calls"}, {"data_index": 2, "finish_reason": "stop"}]
    assert [each.case.due for each in with_baseline(samples, theirs)] == [False, True, False, True]


def test_samples_as_they_are_sent() -> None:
    lines: list[tuple[int, dict[str, Any]]] = [
        (1, {"messages": [{"role": "_input", "content": "x"}, {"role": "user"}, 7]}),
        (2, {"prompt": "y"}),
    ]
    assert list(data_case_rows(lines)) == [
        (1, {"messages": [{"role": "system", "content": "x"}, {"role": "user"}, 7]}),
        (2, {"prompt": "y"}),
    ]
