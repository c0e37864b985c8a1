"""`make agents`: every agent on every front that it supports, with every misbehaviour of the simulator, and with a
provider that refuses the gateway's API key.

python -m tests.agents [--agent NAME]... [--front NAME]... [--row NAME]... [--family k2|k3] [--seconds N]

The row `wrong-key` is the provider that refuses: the agent must print the provider's name.
"""

from __future__ import annotations

import argparse
import sys

from tests.agents.cache import NotInstallable, installed, new_node
from tests.agents.catalogue import AGENTS, Agent
from tests.agents.drive import (
    MISBEHAVIOURS,
    REFUSED_KEY,
    RUN_SECONDS,
    Outcome,
    Stage,
    models_of,
    staged,
    staged_refusal,
)
from tests.support.system_packages import is_ci

WRONG_KEY = "wrong-key"
REFUSING_MODEL = "kimi-k2.6"
TRIES = 2  # an agent may fail without a fault of the gateway


def main() -> int:
    parser = argparse.ArgumentParser(prog="make agents", description="Drive real agents through the gateway.")
    parser.add_argument("--agent", action="append", choices=[agent.name for agent in AGENTS])
    parser.add_argument("--front", action="append", choices=["chat", "messages", "responses"])
    parser.add_argument("--row", action="append", help="misbehaviours of the simulator; all if none is named")
    parser.add_argument("--family", choices=["k2", "k3"], help="of these models only")
    parser.add_argument("--seconds", type=float, default=RUN_SECONDS, help="for one run; a busy machine needs more")
    options = parser.parse_args()
    rows = tuple(row for row in MISBEHAVIOURS if not options.row or row[1] in options.row)
    rows = tuple(row for row in rows if options.family in (None, row[0]))
    models = models_of(rows)
    wrong_key = not options.row or WRONG_KEY in options.row
    failed = 0
    # A provider needs a model, even if only the row `wrong-key` is run.
    with staged(list(models.values()) or [REFUSING_MODEL]) as stage, staged_refusal(REFUSING_MODEL) as refusal:
        for agent in AGENTS:
            if options.agent and agent.name not in options.agent:
                continue
            try:
                installed(agent.packages)
                if agent.new_node:
                    new_node()
            except NotInstallable as error:
                print(f"left out: {agent.name}: {error}", flush=True)
                failed += is_ci()
                continue
            for front in agent.fronts:
                if options.front and front not in options.front:
                    continue
                if models:
                    failed += _run_rows(stage, agent, front, models, options.seconds)
                if wrong_key:
                    failed += _run_wrong_key(refusal, agent, front, options.seconds)
    return 1 if failed else 0


def _run_rows(stage: Stage, agent: Agent, front: str, models: dict[tuple[str, str], str], limit: float) -> int:
    """Run one agent on one front with all rows; returns how many failed."""
    failed: list[str] = []
    seconds = 0.0
    for (family, row), model in models.items():
        outcome = _run_with_retries(stage, agent, front, model, limit)
        seconds += outcome.seconds
        if not outcome.good:
            failed.append(f"{family} {row}")
            output = " ".join(outcome.output.split())[-300:]
            print(
                f"  {agent.name} {front} {model}: {outcome.requests} requests, {outcome.why}\n    {output}", flush=True
            )
    passed = len(models) - len(failed)
    print(f"{agent.name:12} {front:10} {passed:3} of {len(models)} passed, {seconds:.0f} s", flush=True)
    return len(failed)


def _run_wrong_key(refusal: Stage, agent: Agent, front: str, limit: float) -> int:
    """Run one agent on one front with the provider that refuses the key; returns 1 if it does not print who refused."""
    outcome = refusal.drive(agent, front, REFUSING_MODEL, limit)
    named = REFUSED_KEY in outcome.output + outcome.why
    said = "names the provider" if named else f"does not name the provider: {(outcome.output + outcome.why)[-300:]}"
    print(f"{agent.name:12} {front:10} {WRONG_KEY}: {outcome.requests} requests, {said}", flush=True)
    return 0 if named else 1


def _run_with_retries(stage: Stage, agent: Agent, front: str, model: str, limit: float) -> Outcome:
    for _ in range(TRIES - 1):
        outcome = stage.drive(agent, front, model, limit)
        if outcome.good:
            return outcome
    return stage.drive(agent, front, model, limit)


if __name__ == "__main__":
    sys.exit(main())
