"""A Kimi vendor in a box: plays every known misbehaviour, for demos and tests. Start it with `sim.server.start`."""

from __future__ import annotations

from moongate.sim.behaviours import GENERATIONS, HOSTS, ROWS, Behaviour, behaviour_of, listed_models, model_name
from moongate.sim.server import SimServer, main, start

__all__ = [
    "GENERATIONS",
    "HOSTS",
    "ROWS",
    "Behaviour",
    "SimServer",
    "behaviour_of",
    "listed_models",
    "main",
    "model_name",
    "start",
]
