"""Counts of one side, raw or repaired, and the rates that they make. Pure."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from moongate.payload import JsonObject
from moongate.verify.observation import CALLS
from moongate.verify.statistics import MeasuredRate, Triggers

PASSES: Final = ("contract", "multiturn", "stream", "tools")  # suites: the share of cases without a fault
RATES: Final = ("success", "schema", "calls_fit", "f1", "precision", "recall", *PASSES)


@dataclass(slots=True)
class SideTally:
    """Contract rows count in `contract` alone: what a refused request looks like says nothing of answers."""

    answers: int = 0
    asked: int = 0
    finish_calls: int = 0
    valid: int = 0
    with_calls: int = 0
    fitting: int = 0
    triggers: Triggers = field(default_factory=Triggers)
    faults: Counter[str] = field(default_factory=Counter)
    stream_faults: Counter[str] = field(default_factory=Counter)
    id_shapes: Counter[str] = field(default_factory=Counter)
    worths: Counter[str] = field(default_factory=Counter)
    passed: Counter[str] = field(default_factory=Counter)
    judged: Counter[str] = field(default_factory=Counter)

    def add(self, suite: str, side: JsonObject, due: bool | None, *, mended: bool) -> None:
        if not mended:  # neither passed nor failed: repaired by design
            self.judged[suite] += 1
            self.passed[suite] += bool(side["passed"])
        if suite == "contract":
            return
        self.asked += 1
        self.worths[side["worth"]] += 1
        self.faults.update(side["faults"])
        if "failed" in side["faults"]:
            return
        self.answers += 1
        self.stream_faults.update(side["stream_faults"])
        self.id_shapes.update(side["id_shapes"])
        called = side["finish_reason"] == CALLS
        self.finish_calls += called
        self.valid += called and side["calls_valid"] is True
        self.with_calls += side["calls_fit"] is not None
        self.fitting += side["calls_fit"] is True
        if due is not None:
            self.triggers = self.triggers.plus(called=called, due=due)

    def rate(self, name: str) -> JsonObject:
        """By its name in `RATES`. `schema` is K2-Vendor-Verifier's schema_accuracy, `f1` its tool_call_f1."""
        if name == "f1":
            return self.triggers.f1_json()
        if name in PASSES:
            return MeasuredRate(self.passed[name], self.judged[name]).as_json()
        rates = {
            "success": MeasuredRate(self.answers, self.asked),
            "schema": MeasuredRate(self.valid, self.finish_calls),
            "calls_fit": MeasuredRate(self.fitting, self.with_calls),
            "precision": self.triggers.precision,
            "recall": self.triggers.recall,
        }
        return rates[name].as_json()

    def as_json(self) -> JsonObject:
        triggers = self.triggers
        return {
            "rates": {name: self.rate(name) for name in RATES},
            "faults": {
                fault: MeasuredRate(count, self.asked).as_json() for fault, count in sorted(self.faults.items())
            },
            "stream_faults": dict(sorted(self.stream_faults.items())),
            "id_shapes": dict(sorted(self.id_shapes.items())),
            "worths": dict(sorted(self.worths.items())),
            "triggers": {"tp": triggers.both, "fp": triggers.needless, "fn": triggers.missed, "tn": triggers.neither},
        }
