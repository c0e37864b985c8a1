"""`make agents`: every agent on every front that it speaks, through every misbehaviour of the simulator.

python -m tests.agents [--agent NAME]... [--front NAME]... [--row NAME]...
"""

from __future__ import annotations

import argparse
import sys

from tests.agents.cache import NotInstallable, installed, new_node
from tests.agents.catalogue import AGENTS, Agent
from tests.agents.drive import MISBEHAVIOURS, Outcome, Stage, models_of, staged

TRIES = 2  # an agent's own hiccup is not the gateway's


def main() -> int:
    parser = argparse.ArgumentParser(prog="make agents", description="Drive real agents through the gateway.")
    parser.add_argument("--agent", action="append", choices=[agent.name for agent in AGENTS])
    parser.add_argument("--front", action="append", choices=["chat", "messages", "responses"])
    parser.add_argument("--row", action="append", help="misbehaviours of the simulator; all if none is named")
    options = parser.parse_args()
    rows = tuple(row for row in MISBEHAVIOURS if not options.row or row[1] in options.row)
    models = models_of(rows)
    failed = 0
    with staged(list(models.values())) as stage:
        for agent in AGENTS:
            if options.agent and agent.name not in options.agent:
                continue
            try:
                installed(agent.packages)
                if agent.new_node:
                    new_node()
            except NotInstallable as error:
                print(f"{agent.name}: skipped: {error}", flush=True)
                continue
            for front in agent.fronts:
                if not options.front or front in options.front:
                    failed += _walk(stage, agent, front, models)
    return 1 if failed else 0


def _walk(stage: Stage, agent: Agent, front: str, models: dict[tuple[str, str], str]) -> int:
    """One agent on one front through all rows; how many failed."""
    failed: list[str] = []
    seconds = 0.0
    for (family, row), model in models.items():
        outcome = _tried(stage, agent, front, model)
        seconds += outcome.seconds
        if not outcome.good:
            failed.append(f"{family} {row}")
            said = " ".join(outcome.said.split())[-300:]
            print(f"  {agent.name} {front} {model}: {outcome.asked} requests, {outcome.why}\n    {said}", flush=True)
    passed = len(models) - len(failed)
    print(f"{agent.name:12} {front:10} {passed:3} of {len(models)} passed, {seconds:.0f} s", flush=True)
    return len(failed)


def _tried(stage: Stage, agent: Agent, front: str, model: str) -> Outcome:
    for _ in range(TRIES - 1):
        outcome = stage.drive(agent, front, model)
        if outcome.good:
            return outcome
    return stage.drive(agent, front, model)


if __name__ == "__main__":
    sys.exit(main())
