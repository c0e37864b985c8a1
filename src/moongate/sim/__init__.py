"""A simulated Kimi provider that reproduces every known misbehaviour, for demos and tests. See `sim.server.start`."""

from __future__ import annotations

from moongate.sim.behaviours import GENERATIONS, Behaviour, behaviour_of, listed_models, model_name
from moongate.sim.ledger import LedgerEntry
from moongate.sim.rows import HOSTS, ROWS
from moongate.sim.server import SimServer, main, start

__all__ = [
    "GENERATIONS",
    "HOSTS",
    "ROWS",
    "Behaviour",
    "LedgerEntry",
    "SimServer",
    "behaviour_of",
    "listed_models",
    "main",
    "model_name",
    "start",
]
