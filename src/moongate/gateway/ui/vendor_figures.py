"""What is known of each target: from the last requests, the counters of all workers and the routes' scores."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from statistics import median
from typing import Final

from moongate.gateway.record.metrics import Metrics
from moongate.payload import JsonObject

BUCKETS: Final = 24
_LABEL: Final = re.compile(r'(?<!\w)(\w+)="((?:[^"\\]|\\.)*)"')


@dataclass(slots=True)
class VendorFigures:
    """Of one target. Times are in milliseconds."""

    name: str
    requests: int = 0
    first_bytes: list[float] = field(default_factory=list)
    speeds: list[float] = field(default_factory=list)  # tokens a second
    repairs: list[tuple[str, str, int]] = field(default_factory=list)  # time, kind, how many
    worth: dict[str, int] = field(default_factory=dict)
    outcomes: dict[str, int] = field(default_factory=dict)  # of attempts
    cool_downs: int = 0
    learned: dict[str, int] = field(default_factory=dict)
    damage: dict[str, int] = field(default_factory=dict)

    @property
    def attempts(self) -> int:
        return sum(self.outcomes.values())

    @property
    def errors(self) -> int:
        """Failed attempts, those included after which another target answered."""
        return self.attempts - self.outcomes.get("ok", 0) - self.outcomes.get("client_left", 0)

    def add(self, line: JsonObject) -> None:
        """One of the last requests."""
        self.requests += 1
        first, duration = line.get("first_byte_ms"), line.get("duration_ms")
        written = line.get("output_tokens")
        if isinstance(first, (int, float)):
            self.first_bytes.append(first)
            if isinstance(duration, (int, float)) and isinstance(written, int) and duration - first >= 1:
                self.speeds.append(written / (duration - first) * 1000)
        for kind, number in (line.get("notes") or {}).items():
            self.repairs.append((str(line.get("time", "")), kind, number))


def percentile(values: list[float], share: float) -> float | None:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else None


def middle(values: list[float]) -> float | None:
    return median(values) if values else None


def vendor_figures(lines: Iterable[JsonObject], metrics: Metrics) -> dict[str, VendorFigures]:
    """By target, as `provider,model`."""
    found: dict[str, VendorFigures] = {}

    def of(name: str) -> VendorFigures:
        return found.setdefault(name, VendorFigures(name))

    for line in lines:
        if line.get("provider"):
            of(f"{line['provider']},{line['model']}").add(line)
    for family, labels, value in metric_values(metrics):
        name = f"{labels.get('provider')},{labels.get('model')}"
        if not value or not labels.get("provider"):
            continue
        if family == "moongate_attempts_total":
            _count(of(name).outcomes, labels["outcome"], value)
        elif family == "moongate_answers_total":
            _count(of(name).worth, labels["worth"], value)
        elif family == "moongate_damage_total":
            _count(of(name).damage, labels.get("kind", ""), value)
        elif family == "moongate_cool_downs_total":
            of(name).cool_downs += value
        elif family == "moongate_learned_rules_total":
            _count(of(name).learned, labels["rule"], value)
    return found


def _count(counts: dict[str, int], name: str, value: int) -> None:
    counts[name] = counts.get(name, 0) + value


def metric_values(metrics: Metrics) -> Iterable[tuple[str, dict[str, str], int]]:
    """The counters of all workers: family, labels and value."""
    for name, value in metrics.slots.totals().items():
        family, label_text, part = name.split("\t")
        if not part:
            yield family, dict(_LABEL.findall(label_text)), value


def over_time(events: list[tuple[str, str, int]], buckets: int = BUCKETS) -> tuple[list[str], dict[str, list[float]]]:
    """Events (time, kind, number) in equal parts of the time between the first and the last; labels and kinds."""
    if not events:
        return [], {}
    seconds = [_seconds(when) for when, _, _ in events]
    begin, end = min(seconds), max(seconds)
    width = max((end - begin) / buckets, 1.0)
    labels = [_clock(begin + at * width) for at in range(buckets)]
    found: dict[str, list[float]] = {}
    for at, (_, kind, number) in zip(seconds, events, strict=True):
        values = found.setdefault(kind, [0.0] * buckets)
        values[min(buckets - 1, int((at - begin) / width))] += number
    return labels, found


def _seconds(when: str) -> float:

    try:
        return datetime.fromisoformat(when).timestamp()
    except ValueError:
        return 0.0


def _clock(seconds: float) -> str:

    return datetime.fromtimestamp(seconds, UTC).strftime("%H:%M:%S")
