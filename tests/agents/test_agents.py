"""The short form of `make agents`: Claude Code and Codex, as they come from the registry, through a few misbehaviours.

What this machine cannot do (no npm, no registry, no time) is skipped with a reason; what the gateway does wrong fails.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from tests.agents.cache import NotInstallable, installed
from tests.agents.catalogue import AGENTS, Agent
from tests.agents.drive import MISBEHAVIOURS, Outcome, Stage, models_of, staged

ROWS = (("k2", "foreign-ids"), ("k2", "markers-cut"), ("k3", "restarted-ids"))
MODELS = models_of(ROWS)
SHORT = [agent for agent in AGENTS if agent.name in ("claude-code", "codex")]

BUDGET_SECONDS = 240.0  # for everything here, installing included: the other tests want their time too
RUN_SECONDS = 60.0
TRIES = 3  # an agent's own hiccup is not the gateway's


class Budget:
    """How long this file may still take."""

    def __init__(self) -> None:
        self._end = time.monotonic() + BUDGET_SECONDS

    def left(self) -> float:
        seconds = self._end - time.monotonic()
        if seconds < 5:
            pytest.skip(f"this machine needs more than {BUDGET_SECONDS:.0f} s for the agents")
        return seconds


@pytest.fixture(scope="module")
def budget() -> Budget:
    return Budget()


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    with staged(list(MODELS.values())) as stage:
        yield stage


@pytest.mark.parametrize("row", ROWS, ids="-".join)
@pytest.mark.parametrize("agent", SHORT, ids=lambda agent: agent.name)
def test_an_agent_finishes_its_task(stage: Stage, budget: Budget, agent: Agent, row: tuple[str, str]) -> None:
    try:
        installed(agent.packages, budget.left())
    except NotInstallable as error:
        pytest.skip(str(error))
    outcomes: list[Outcome] = []
    for _ in range(TRIES):
        outcome = stage.drive(agent, agent.fronts[0], MODELS[row], min(RUN_SECONDS, budget.left()))
        if outcome.good:
            return
        if outcome.code is None or outcome.asked == 0:
            pytest.skip(f"{agent.name} does not run here: {outcome.why}")
        outcomes.append(outcome)
    pytest.fail("\n".join(f"{o.asked} requests, {o.why}: {o.said[-500:]}" for o in outcomes))


def test_every_row_is_one_of_the_simulators() -> None:
    assert set(ROWS) <= set(MISBEHAVIOURS)
