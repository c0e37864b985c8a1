"""Counts what the answers of one target were worth, apart for requests with and without tools."""

from __future__ import annotations

from typing import Final

from moongate.chat.verdict import Verdict
from moongate.gateway.record.metrics import Metrics

MAX_KINDS: Final = 64  # kinds of damage that are counted by name: a custom transformer may invent any number


class AnswerCounters:
    """`count` for every answer that a provider began, or gave an error for; also for one that a retry replaced."""

    __slots__ = ("_answers", "_damage", "_labels", "_metrics")

    def __init__(self, metrics: Metrics, provider: str, model: str) -> None:
        self._metrics = metrics
        self._labels = {"provider": provider, "model": model}
        self._answers: dict[tuple[bool, str], int] = {}
        self._damage: dict[tuple[bool, str], int] = {}

    def count(self, verdict: Verdict, *, tools: bool) -> None:
        slot = self._answers.get((tools, verdict.worth))
        if slot is None:
            slot = self._slot("moongate_answers_total", tools, worth=verdict.worth)
            self._answers[tools, verdict.worth] = slot
        self._metrics.values[slot] += 1
        for kind in verdict.kinds:
            self._count_damage(kind, tools)

    def _count_damage(self, kind: str, tools: bool) -> None:
        if len(self._damage) >= MAX_KINDS and (tools, kind) not in self._damage:
            kind = "other"
        slot = self._damage.get((tools, kind))
        if slot is None:
            slot = self._slot("moongate_damage_total", tools, kind=kind)
            self._damage[tools, kind] = slot
        self._metrics.values[slot] += 1

    def _slot(self, family: str, tools: bool, **label: str) -> int:
        return self._metrics.counter(family, **self._labels, tools="true" if tools else "false", **label)
