"""What is counted, and how Prometheus reads it.

Counting is one addition to a slot that is looked up once per label set. Times are kept in microseconds.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Final

from moongate.gateway.slots import Slots

BOUNDS: Final[Sequence[float]] = (
    0.005,
    0.01,
    0.025,
    0.05,
    0.1,
    0.25,
    0.5,
    1.0,
    2.5,
    5.0,
    10.0,
    30.0,
    60.0,
    120.0,
    300.0,
)

FAMILIES: Final[dict[str, tuple[str, str]]] = {
    "moongate_requests_total": ("counter", "Requests answered, by model, provider, front and status."),
    "moongate_first_byte_seconds": ("histogram", "Time from a request's head to the first byte of its answer."),
    "moongate_duration_seconds": ("histogram", "Time from a request's head to the end of its answer."),
    "moongate_tokens_total": ("counter", "Tokens as the provider counted them, by kind."),
    "moongate_repairs_total": ("counter", "Repairs by kind, provider and model."),
    "moongate_attempts_total": ("counter", "Upstream requests by provider, model and outcome."),
    "moongate_cool_downs_total": ("counter", "Times that a target was left alone after failures."),
    "moongate_client_left_total": ("counter", "Answers whose client went away before the end."),
    "moongate_requests_in_flight": ("gauge", "Requests being answered now."),
    "moongate_streams_open": ("gauge", "Streams being relayed now."),
    "moongate_reloads_total": ("counter", "Reloads of the configuration, by result."),
    "moongate_log_lines_dropped_total": ("counter", "Access log lines that nobody took in time."),
}


def labels(**given: str) -> str:
    """`{a="b"}`, escaped; empty for none."""
    pairs = ",".join(f'{name}="{_escaped(value)}"' for name, value in given.items())
    return "{" + pairs + "}" if pairs else ""


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", " ")


class Times:
    """One histogram with its labels."""

    __slots__ = ("_buckets", "_sum", "_values")

    def __init__(self, slots: Slots, family: str, label_text: str) -> None:
        self._values = slots.values
        self._buckets = [slots.slot(f"{family}\t{label_text}\t{index}") for index in range(len(BOUNDS) + 1)]
        self._sum = slots.slot(f"{family}\t{label_text}\tsum")

    def observe(self, seconds: float) -> None:
        self._values[self._buckets[bisect_left(BOUNDS, seconds)]] += 1
        self._values[self._sum] += int(seconds * 1e6)


class Metrics:
    """The counters of one worker."""

    def __init__(self, slots: Slots) -> None:
        self.slots = slots
        self.values = slots.values
        self.in_flight = self.counter("moongate_requests_in_flight")
        self.streams = self.counter("moongate_streams_open")
        self.dropped = self.counter("moongate_log_lines_dropped_total")
        self.left = self.counter("moongate_client_left_total")
        self.values[self.in_flight] = self.values[self.streams] = 0  # what a dead predecessor had open is closed

    def counter(self, family: str, **given: str) -> int:
        """The slot of a counter or gauge."""
        return self.slots.slot(f"{family}\t{labels(**given)}\t")

    def count(self, family: str, **given: str) -> None:
        """For what happens seldom; the rest keeps its slot."""
        self.values[self.counter(family, **given)] += 1

    def lines_dropped(self, number: int) -> None:
        self.values[self.dropped] += number

    def times(self, family: str, **given: str) -> Times:
        return Times(self.slots, family, labels(**given))

    def text(self, build: str) -> str:
        """Everything, over all workers, in Prometheus' text form."""
        by_family: dict[str, dict[str, dict[str, int]]] = {}
        for name, value in self.slots.totals().items():
            family, label_text, part = name.split("\t")
            by_family.setdefault(family, {}).setdefault(label_text, {})[part] = value
        lines = [
            "# HELP moongate_build_info The version that runs.",
            "# TYPE moongate_build_info gauge",
            f"moongate_build_info{labels(version=build)} 1",
        ]
        for family, (kind, about) in FAMILIES.items():
            lines += [f"# HELP {family} {about}", f"# TYPE {family} {kind}"]
            for label_text, parts in sorted(by_family.get(family, {}).items()):
                if kind == "histogram":
                    lines.extend(_histogram(family, label_text, parts))
                else:
                    lines.append(f"{family}{label_text} {parts['']}")
        return "\n".join(lines) + "\n"


def _histogram(family: str, label_text: str, parts: dict[str, int]) -> Iterable[str]:
    inner = label_text[1:-1] + "," if label_text else ""
    total = 0
    for index in range(len(BOUNDS) + 1):
        total += parts.get(str(index), 0)
        bound = f"{BOUNDS[index]:g}" if index < len(BOUNDS) else "+Inf"
        yield f'{family}_bucket{{{inner}le="{bound}"}} {total}'
    yield f"{family}_sum{label_text} {parts.get('sum', 0) / 1e6:.6f}"
    yield f"{family}_count{label_text} {total}"
