"""One request to a vendor, and what is expected of its answer."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

from moongate.payload import JsonObject

SuiteName = Literal["contract", "schema", "tools", "multiturn", "stream", "data"]


@dataclass(frozen=True, slots=True)
class VerifyCase:
    """`request` has no model yet. `due`: a call is due (None: nobody knows). `expect`: of a contract row."""

    suite: SuiteName
    name: str
    request: JsonObject
    due: bool | None = None
    expect: JsonObject = field(default_factory=dict)
    why: str = ""

    @property
    def streamed(self) -> bool:
        return self.request.get("stream") is True


@dataclass(frozen=True, slots=True)
class PlannedCase:
    """A case in one of several runs. `index` counts from 1 over the whole plan; of samples it counts lines, as
    K2-Vendor-Verifier does."""

    index: int
    case: VerifyCase
    run: int

    @property
    def key(self) -> tuple[str, str, int]:
        return self.case.suite, self.case.name, self.run


def plan(cases: list[VerifyCase], runs: int, maximum: int | None) -> list[PlannedCase]:
    """Every case `runs` times, run after run; at most `maximum` in all, of each suite alike."""
    places = [int(case.name) if case.suite == "data" else at for at, case in enumerate(cases, 1)]
    placed = list(zip(places, cases, strict=True))
    span = max(places, default=0)
    planned = [PlannedCase(run * span + at, case, run + 1) for run in range(runs) for at, case in placed]
    return planned if maximum is None or maximum >= len(planned) else _spread(planned, maximum)


def _spread(planned: list[PlannedCase], maximum: int) -> list[PlannedCase]:
    """So many of the cases, in their order: of each run the first ones of each suite."""
    counts = Counter[tuple[int, str]]()
    turns: list[tuple[int, int, int]] = []  # run, number within the suite, place
    for place, each in enumerate(planned):
        counts[each.run, each.case.suite] += 1
        turns.append((each.run, counts[each.run, each.case.suite], place))
    return [planned[place] for place in sorted(place for *_, place in sorted(turns)[:maximum])]
