"""Applies what other gateways have learned to the targets of this one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import monotonic

from moongate.gateway.target import Target


class TargetUpdater:
    """Implements `SignalReceiver`. `targets` returns those of the current configuration; unknown names are ignored."""

    def __init__(self, targets: Callable[[], Sequence[Target]]) -> None:
        self._targets = targets

    def cool_down(self, target: str, seconds: float) -> None:
        for each in self._named(target):
            each.health.breaker.cool(seconds, monotonic())

    def learn(self, target: str, rule: str) -> None:
        for each in self._named(target):
            each.learned.learn(rule, monotonic())

    def judge(self, target: str, worth: str) -> None:
        for each in self._named(target):
            each.score.record(worth, monotonic())

    def _named(self, name: str) -> list[Target]:
        return [each for each in self._targets() if each.name == name]
