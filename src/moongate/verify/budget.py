"""`--budget 2.50usd` or `--budget 500k`: what a run may spend. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from moongate.errors import ConfigError

_MONEY: Final = re.compile(r"\$?([0-9]+(?:\.[0-9]+)?) ?(?:usd|\$)?", re.IGNORECASE)
_TOKENS: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?([km]?) ?(?:tokens?)?", re.IGNORECASE)
_SCALES: Final = {"": 1, "k": 1000, "m": 1_000_000}


@dataclass(frozen=True, slots=True)
class RunBudget:
    """One of the two is set; both None: no limit."""

    tokens: int | None = None
    micros: int | None = None

    def used_up(self, tokens: int, micros: int) -> bool:
        if self.tokens is not None:
            return tokens >= self.tokens
        return self.micros is not None and micros >= self.micros


def parse_budget(text: str) -> RunBudget:
    """Money has a currency (`$2`, `2.5usd`); any other number is tokens (`20000`, `500k`)."""
    given = text.strip()
    if "$" in given or given.lower().endswith("usd"):
        if found := _MONEY.fullmatch(given):
            return RunBudget(micros=round(float(found[1]) * 1_000_000))
    elif found := _TOKENS.fullmatch(given):
        return RunBudget(tokens=round(float(found[1]) * _SCALES[found[2].lower()]))
    raise ConfigError(f"{text!r}: write money as 2.50usd, tokens as 500k", path="--budget")
