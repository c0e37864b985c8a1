"""One agent through the real gateway against the simulator, from the prompt to its last words."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.agents.apart import run
from tests.agents.cache import installed, new_node
from tests.agents.catalogue import Agent, Errand
from tests.support.background import Background
from tests.support.gateway import RunningGateway, run_gateway

from moongate import sim
from moongate.sim import ROWS, SimServer, model_name

# Rows that end in an error, wait for real, or are no misbehaviour; and what no agent's tool would survive.
_APART = {
    "broken",
    "broken-chunk",
    "stalled",
    "error-mid",
    "429",
    "500",
    "quota",
    "slow",
    "awkward",
    "no-arguments",
    "long",
}
GENERATION = {"k2": "k2.5", "k3": "k3"}  # generations that think, so that reasoning has to come back as well

MISBEHAVIOURS = tuple(
    (family, row.name)
    for row in ROWS
    for family in row.families
    if row.group != "host" and row.name not in _APART
    if family == "k2" or row.group not in ("framing", "fault")  # these know nothing of families
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """`good`: the agent's last words name all three results. `asked`: requests that reached the provider."""

    good: bool
    code: int | None  # None: it was stopped, or cannot be run
    seconds: float
    asked: int
    said: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class Stage:
    gateway: RunningGateway
    simulator: SimServer

    def drive(self, agent: Agent, front: str, model: str, seconds: float = 180.0) -> Outcome:
        """Run the agent once, in an empty home. It and everything it started are gone afterwards."""
        package = installed(agent.packages)
        path = os.environ["PATH"]
        if agent.new_node:
            path = f"{new_node()}{os.pathsep}{path}"
        home = Path(tempfile.mkdtemp(prefix="moongate-agent-"))
        try:
            (home / "README.md").write_text("# A project\n", encoding="utf-8")
            command = agent.command(Errand(self.gateway.root, self.gateway.key, model, front, home, package))
            env = {**_small_environment(home, path), **command.env}
            self.simulator.vendor.seen.clear()
            began = time.monotonic()
            ended = run(command.argv, home, seconds, env)
            took = time.monotonic() - began
            good = ended.code == 0 and all(re.search(rf"->[^>]*moongate {n}\b", ended.out) for n in range(3))
            why = "" if good else ended.err or f"exit code {ended.code}"
            return Outcome(good, ended.code, took, len(self.simulator.seen), ended.out, why)
        finally:
            shutil.rmtree(home, ignore_errors=True)


@contextmanager
def staged(models: list[str]) -> Iterator[Stage]:
    """The gateway in front of a strict simulator."""
    with Background() as background:
        simulator = background.start(sim.start(play="strict"))
        provider = {
            "name": "sim",
            "api_base_url": simulator.url,
            "models": models,
            "transformer": {"use": [["Kimi", {"preset": "agent"}]]},
        }
        with run_gateway({"providers": [provider]}) as gateway:
            yield Stage(gateway, simulator)


def models_of(rows: tuple[tuple[str, str], ...]) -> dict[tuple[str, str], str]:
    return {row: model_name(GENERATION[row[0]], row[1]) for row in rows}


def _small_environment(home: Path, path: str) -> dict[str, str]:
    """Nothing of the user's own settings, keys or proxies reaches the agent."""
    return {
        "HOME": str(home),
        "PATH": path,
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "NO_COLOR": "1",
        "CI": "1",
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_DATA_HOME": str(home / ".local"),
        "XDG_CACHE_HOME": str(home / ".cache"),
    }
