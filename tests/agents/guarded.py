"""Agents behind a vendor that is right in 72 of 100 tool turns: how many finish, with the guard and without it?

    python -m tests.agents.guarded [--agent NAME]... [--runs 10]

Each run has a seed of its own, so that other turns are damaged. With the guard all runs have to finish.
"""

from __future__ import annotations

import argparse
import sys

from tests.agents.cache import NotInstallable, installed, new_node
from tests.agents.catalogue import AGENTS, Agent
from tests.agents.drive import Outcome, Stage, staged
from tests.support.system_packages import is_ci

from moongate.sim import model_name

NAMES = ("claude-code", "codex", "kimi-code", "opencode")
PRESETS = {"agent": "without the guard", "strict": "with the guard"}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.agents.guarded", description=__doc__.splitlines()[0])
    parser.add_argument("--agent", action="append", choices=NAMES)
    parser.add_argument("--runs", type=int, default=10)
    options = parser.parse_args()
    models = [model_name("k2", f"after-error-valid-72-seed-{seed}") for seed in range(options.runs)]
    failed = 0
    for agent in [agent for agent in AGENTS if agent.name in (options.agent or NAMES)]:
        try:
            installed(agent.packages)
            if agent.new_node:
                new_node()
        except NotInstallable as error:
            print(f"left out: {agent.name}: {error}", flush=True)
            failed += is_ci()
            continue
        for preset, said in PRESETS.items():
            with staged(models, preset) as stage:
                finished = sum(_run(stage, agent, model).good for model in models)
            print(f"{agent.name:12} {said:18} {finished} of {len(models)} runs finish", flush=True)
            failed += preset == "strict" and finished < len(models)
    return 1 if failed else 0


def _run(stage: Stage, agent: Agent, model: str) -> Outcome:
    outcome = stage.drive(agent, agent.fronts[0], model)
    if not outcome.good:
        print(f"  {model}: {outcome.requests} requests, {outcome.why[-200:]}", flush=True)
    return outcome


if __name__ == "__main__":
    sys.exit(main())
