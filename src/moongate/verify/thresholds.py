"""`--fail-under schema=0.99,f1=0.73`: what a run must reach. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from moongate.errors import ConfigError
from moongate.payload import JsonObject
from moongate.verify.tally import RATES

_SIDES: Final = ("raw", "repaired")


@dataclass(frozen=True, slots=True)
class Threshold:
    """A rate of one side that must be at least `least`. `name` is as it was given."""

    name: str
    side: str
    rate: str
    least: float


def parse_thresholds(text: str) -> list[Threshold]:
    """`schema=0.99` is of answers as they came, `repaired.schema=0.99` of what leaves the chain."""
    found = []
    for part in filter(None, (each.strip() for each in text.split(","))):
        name, separator, number = part.partition("=")
        side, dot, rate = name.strip().rpartition(".")
        side = side if dot else "raw"
        if not separator or side not in _SIDES or rate not in RATES:
            raise ConfigError(f"{part!r}: write RATE=SHARE with a rate of: {', '.join(RATES)}", path="--fail-under")
        try:
            least = float(number)
        except ValueError:
            least = -1.0
        if not 0 <= least <= 1:
            raise ConfigError(f"{part!r}: a share is a number from 0 to 1", path="--fail-under")
        found.append(Threshold(name.strip(), side, rate, least))
    return found


def below(thresholds: Sequence[Threshold], summary: JsonObject) -> list[str]:
    """What is not reached, in words. A rate of nothing is not reached: it was not measured."""
    found = []
    for each in thresholds:
        value = summary["moongate"][each.side]["rates"][each.rate]["value"]
        if value is None:
            found.append(f"{each.name} was not measured (at least {each.least:g} is wanted)")
        elif value < each.least:
            found.append(f"{each.name} is {value:.4f}, below {each.least:g}")
    return found
