"""The short form of `make agents`: Claude Code and Codex, from the npm registry, through a few misbehaviours.

What this machine cannot do (no npm, no registry, no time) is skipped with a reason, which under `CI=true` is a failure.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from tests.agents.cache import NotInstallable, installed
from tests.agents.catalogue import AGENTS, Agent
from tests.agents.drive import MISBEHAVIOURS, REFUSED_KEY, Outcome, Stage, models_of, staged, staged_refusal

ROWS = (("k2", "foreign-ids"), ("k2", "markers-cut"), ("k3", "restarted-ids"))
MODELS = models_of(ROWS)
SHORT = [agent for agent in AGENTS if agent.name in ("claude-code", "codex")]

BUDGET_SECONDS = 480.0  # for this file, including the installation
RUN_SECONDS = 60.0
TRIES = 3  # an agent may fail without a fault of the gateway


class TimeBudget:
    """The time that is left for this file."""

    def __init__(self) -> None:
        self._end = time.monotonic() + BUDGET_SECONDS

    def left(self) -> float:
        seconds = self._end - time.monotonic()
        if seconds < 5:
            pytest.skip(f"this machine needs more than {BUDGET_SECONDS:.0f} s for the agents")
        return seconds


@pytest.fixture(scope="module")
def budget() -> TimeBudget:
    return TimeBudget()


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    with staged(list(MODELS.values())) as stage:
        yield stage


@pytest.mark.needs("npm")
@pytest.mark.parametrize("row", ROWS, ids="-".join)
@pytest.mark.parametrize("agent", SHORT, ids=lambda agent: agent.name)
def test_an_agent_finishes_its_task(stage: Stage, budget: TimeBudget, agent: Agent, row: tuple[str, str]) -> None:
    try:
        installed(agent.packages, budget.left())
    except NotInstallable as error:
        pytest.skip(str(error))
    outcomes: list[Outcome] = []
    for _ in range(TRIES):
        outcome = stage.drive(agent, agent.fronts[0], MODELS[row], min(RUN_SECONDS, budget.left()))
        if outcome.good:
            return
        if outcome.code is None or outcome.requests == 0:
            pytest.skip(f"{agent.name} does not run here: {outcome.why}")
        outcomes.append(outcome)
    pytest.fail("\n".join(f"{o.requests} requests, {o.why}: {o.output[-500:]}" for o in outcomes))


@pytest.mark.needs("npm")
@pytest.mark.parametrize("agent", SHORT, ids=lambda agent: agent.name)
def test_an_agent_prints_who_refused_its_key_after_one_request(budget: TimeBudget, agent: Agent) -> None:
    try:
        installed(agent.packages, budget.left())
    except NotInstallable as error:
        pytest.skip(str(error))
    with staged_refusal("kimi-k2.6") as stage:
        outcome = stage.drive(agent, agent.fronts[0], "kimi-k2.6", min(RUN_SECONDS, budget.left()))
    if outcome.code is None or outcome.requests == 0:
        pytest.skip(f"{agent.name} does not run here: {outcome.why}")
    shown = outcome.output + outcome.why
    assert REFUSED_KEY in shown
    assert outcome.requests == 1
    assert "context window of" not in shown
    assert "metadata" not in shown


def test_every_row_exists_in_the_simulator() -> None:
    assert set(ROWS) <= set(MISBEHAVIOURS)
