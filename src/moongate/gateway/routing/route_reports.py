"""What header, log and metrics say about the choices of a route.

Formatting takes longer than choosing, so a report is kept for a second: requests with the same target and reason share
it.
"""

from __future__ import annotations

from typing import Final

from moongate.gateway.record.metrics import Metrics
from moongate.gateway.routing.quality import Quality
from moongate.gateway.routing.selector import RouteReport, RouteSelector, SelectedTarget
from moongate.payload import dumps

ROUTE_HEADER: Final = b"x-moongate-route"
FALLBACK: Final = "fallback"  # the reason of a target that was asked because another one had failed
REPORT_SECONDS: Final = 1.0
MAX_NAME: Final = 200  # characters of a name in a header


class RouteReports:
    """The reports of one route under one strategy."""

    __slots__ = ("_metrics", "_reports", "_until", "selector")

    def __init__(self, selector: RouteSelector, metrics: Metrics) -> None:
        self.selector = selector
        self._metrics = metrics
        self._reports: dict[tuple[int, str], RouteReport] = {}
        self._until = 0.0

    def record_attempt(self, selected: SelectedTarget, index: int, now: float) -> None:
        """An attempt at the target `index` begins: the chosen one, or another one because that failed."""
        reason = selected.reason
        if index != selected.first:
            selected.move(index, now)
            reason = FALLBACK
        selected.report = self.report(index, reason, now)

    def report(self, index: int, reason: str, now: float) -> RouteReport:
        """Of a target that is asked for this reason."""
        if now >= self._until:
            self._reports.clear()
            self._until = now + REPORT_SECONDS
        found = self._reports.get((index, reason))
        if found is None:
            found = self._reports[index, reason] = self._made(index, reason, now)
        return found

    def _made(self, index: int, reason: str, now: float) -> RouteReport:
        selector = self.selector
        route, strategy = selector.name, selector.policy.strategy
        target, quality = selector.targets[index].name, selector.targets[index].score.quality(now)
        provider, _, model = target.partition(",")
        slot = self._metrics.counter(
            "moongate_route_choices_total",
            route=route,
            provider=provider,
            model=model,
            strategy=strategy,
            reason=reason,
        )
        names = _printable(f"{route[:MAX_NAME]} -> {target[:MAX_NAME]}")
        header = f"{names}; strategy={strategy}; reason={reason}; {_shown(quality)}"
        values = {"name": route, "strategy": strategy, "reason": reason, **_rounded(quality)}
        return RouteReport(
            (ROUTE_HEADER, header.encode("ascii")), b'"route":' + dumps(values), f"{route} ({reason})", slot
        )


def _printable(names: str) -> str:
    """Names come from configurations: what a header cannot hold, and what parts its fields, is replaced."""
    return "".join([each if " " <= each <= "~" and each != ";" else "?" for each in names])


def _shown(quality: Quality) -> str:
    score, low, high, raw = _rounded(quality).values()
    return f"score={score:.3f}; interval={low:.3f}-{high:.3f}; raw={raw:.3f}"


def _rounded(quality: Quality) -> dict[str, float]:
    return {name: round(getattr(quality, name), 4) for name in ("score", "low", "high", "raw")}
