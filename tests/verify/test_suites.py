"""The suites are complete, their cases have names of their own and what they need."""

from __future__ import annotations

from collections import Counter

import pytest

from moongate.verify.case import SuiteName, plan
from moongate.verify.suites import SUITES, cases_of, rows

MODELS = ("kimi-k2", "kimi-k3")


def test_there_are_enough_cases_in_both_languages() -> None:
    prompts, schemas, histories, contract = (
        rows(name) for name in ("tool_prompts", "schemas", "histories", "contract")
    )
    assert len(prompts) >= 40
    assert len(schemas) >= 60
    assert len(histories) >= 20
    assert len(contract) >= 60
    assert {row["id"][-2:] for row in prompts} == {"en", "zh"}
    assert {row["language"] for row in histories} == {"en", "zh"}
    assert {family for row in contract for family in row["families"]} == {"k2", "k3"}
    assert sum(row["call"] for row in prompts) >= 25
    assert sum(not row["call"] for row in prompts) >= 10
    assert sum(row["expect"]["status"] != 200 for row in contract) >= 15


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("suite", SUITES)
def test_cases_have_names_of_their_own(suite: SuiteName, model: str) -> None:
    cases = cases_of(suite, model)
    assert cases
    assert len({case.name for case in cases}) == len(cases)
    assert all(case.suite == suite and "model" not in case.request for case in cases)
    assert {case.streamed for case in cases} == ({True} if suite == "stream" else {True, False})


def test_histories_have_the_ids_that_they_say() -> None:
    by_name = {case.name: case.request for case in cases_of("multiturn", "kimi-k2")}
    ids = {
        name: [call["id"] for message in request["messages"] for call in message.get("tool_calls", ())]
        for name, request in by_name.items()
    }
    assert ids["restarting-task-after-task-en"] == ["functions.tide_table:0"] * 3
    assert ids["sanitised-parallel-en"] == [f"functions_tide_table_{n}" for n in range(6)]
    assert all(each.startswith("toolu_") for each in ids["anthropic-task-after-task-zh"])
    for request in by_name.values():
        results = [message["tool_call_id"] for message in request["messages"] if message["role"] == "tool"]
        calls = [call["id"] for message in request["messages"] for call in message.get("tool_calls", ())]
        assert results == calls
        assert request["messages"][-1]["role"] == "user"


def test_a_plan_counts_from_one_and_ends_at_its_maximum() -> None:
    cases = cases_of("tools", "kimi-k2")[:3]
    planned = plan(cases, 2, 5)
    assert [(each.index, each.run) for each in planned] == [(1, 1), (2, 1), (3, 1), (4, 2), (5, 2)]
    assert planned[3].key == ("tools", cases[0].name, 2)


def test_a_maximum_is_shared_among_the_suites() -> None:
    cases = [case for suite in SUITES for case in cases_of(suite, "kimi-k3")]
    planned = plan(cases, 2, 23)
    assert Counter(each.case.suite for each in planned) == {
        "contract": 5,
        "schema": 5,
        "tools": 5,
        "multiturn": 4,
        "stream": 4,
    }
    assert [each.index for each in planned] == sorted(each.index for each in planned)
    assert {each.run for each in planned} == {1}
    assert planned[5].case == cases_of("schema", "kimi-k3")[0]
    more = plan(cases, 2, len(cases) + 3)
    assert [each.case.suite for each in more if each.run == 2] == ["contract", "schema", "tools"]
