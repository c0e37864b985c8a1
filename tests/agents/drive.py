"""Runs one agent through the real gateway against the simulator."""

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
from typing import Protocol

from tests.agents.cache import installed, new_node
from tests.agents.catalogue import Agent, AgentRun
from tests.agents.subprocess_group import run
from tests.gateway.scripted import Asked, Scripted
from tests.support.background import Background
from tests.support.gateway import RunningGateway, run_gateway

from moongate import sim
from moongate.sim import ROWS, SimServer, model_name
from moongate.sim.rows import MARKUP_FAMILIES

# Rows that end in an error, take real time or are no misbehaviour, and rows that no agent's tool can handle.
_EXCLUDED = {
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
    "code-tags",
    "strict-count",
    "max-tokens",
    "nameless-calls",
    "custom-calls",
}
REFUSED_KEY = "provider 'moonshot' refused its API key; your moongate key is fine"
RUN_SECONDS = 180.0
GENERATION = {"k2": "k2.5", "k3": "k3"}  # generations that think, so that reasoning must be returned too

MISBEHAVIOURS = tuple(
    (family, row.name)
    for row in ROWS
    for family in row.families or MARKUP_FAMILIES
    if row.group not in ("host", "refusal", "damage") and row.name not in _EXCLUDED
    if family == "k2" or row.group not in ("framing", "fault")  # these are the same for all families
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """`good`: the agent's output names all three results. `requests`: how many reached the provider."""

    good: bool
    code: int | None  # None: it was stopped, or cannot be run
    seconds: float
    requests: int
    output: str
    why: str = ""


class Provider(Protocol):
    """What is behind the gateway: how many requests it got, and how to forget them."""

    @property
    def requests(self) -> int: ...

    def forget(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Simulator:
    server: SimServer

    @property
    def requests(self) -> int:
        return len(self.server.seen)

    def forget(self) -> None:
        self.server.vendor.seen.clear()


@dataclass(slots=True)
class RefusingProvider:
    """Answers every request with Moonshot's error about a wrong API key."""

    requests: int = 0

    async def play(self, asked: Asked) -> None:
        self.requests += 1
        asked.document({"error": {"message": "Invalid Authentication", "type": "invalid_authentication_error"}}, 401)

    def forget(self) -> None:
        self.requests = 0


@dataclass(frozen=True, slots=True)
class Stage:
    gateway: RunningGateway
    provider: Provider

    def drive(self, agent: Agent, front: str, model: str, seconds: float = RUN_SECONDS) -> Outcome:
        """Run the agent once, in an empty home; afterwards it and everything that it started is killed."""
        package = installed(agent.packages)
        path = os.environ["PATH"]
        if agent.new_node:
            path = f"{new_node()}{os.pathsep}{path}"
        home = Path(tempfile.mkdtemp(prefix="moongate-agent-"))
        try:
            (home / "README.md").write_text("# A project\n", encoding="utf-8")
            command = agent.command(AgentRun(self.gateway.root, self.gateway.key, model, front, home, package))
            env = {**_small_environment(home, path), **command.env}
            self.provider.forget()
            began = time.monotonic()
            finished = run(command.argv, home, seconds, env)
            took = time.monotonic() - began
            good = finished.code == 0 and all(re.search(rf"->[^>]*moongate {n}\b", finished.out) for n in range(3))
            why = "" if good else finished.err or f"exit code {finished.code}"
            return Outcome(good, finished.code, took, self.provider.requests, finished.out, why)
        finally:
            shutil.rmtree(home, ignore_errors=True)


@contextmanager
def staged(models: list[str], preset: str = "agent") -> Iterator[Stage]:
    """The gateway in front of a strict simulator."""
    with Background() as background:
        simulator = background.start(sim.start(play="strict"))
        provider = {
            "name": "sim",
            "api_base_url": simulator.url,
            "models": models,
            "transformer": {"use": [["Kimi", {"preset": preset}]]},
        }
        with run_gateway({"providers": [provider]}) as gateway:
            yield Stage(gateway, Simulator(simulator))


@contextmanager
def staged_refusal(model: str) -> Iterator[Stage]:
    """The gateway in front of a provider that refuses the API key that the gateway has for it."""
    with Background() as background:
        refusing = RefusingProvider()
        upstream = background.start(Scripted(refusing.play).start())
        provider = {"name": "moonshot", "api_base_url": upstream.url, "models": [model]}
        with run_gateway({"providers": [provider]}) as gateway:
            yield Stage(gateway, refusing)


def models_of(rows: tuple[tuple[str, str], ...]) -> dict[tuple[str, str], str]:
    return {row: model_name(GENERATION[row[0]], row[1]) for row in rows}


def _small_environment(home: Path, path: str) -> dict[str, str]:
    """An environment without the user's settings, keys and proxies."""
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
