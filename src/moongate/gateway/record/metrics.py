"""The metrics, and their text form for Prometheus.

Counting is one addition to a slot, which is looked up once per label set. Times are stored in microseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from moongate.gateway.record.shared_counters import SharedCounters

BUCKETS: Final[Sequence[float]] = (
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

OVERHEAD_BUCKETS: Final[Sequence[float]] = (
    *(0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005),
    *(0.01, 0.025, 0.05, 0.1, 0.25, 1.0),
)
OVERHEAD: Final = "moongate_overhead_seconds"

FAMILIES: Final[dict[str, tuple[str, str]]] = {
    "moongate_requests_total": ("counter", "Requests answered, by model, provider, front and status."),
    "moongate_first_byte_seconds": ("histogram", "Time from a request's head to the first byte of its answer."),
    "moongate_duration_seconds": ("histogram", "Time from a request's head to the end of its answer."),
    OVERHEAD: (
        "histogram",
        "Time that the gateway takes between a request's last byte and its sending to the provider.",
    ),
    "moongate_tokens_total": ("counter", "Tokens as the provider counted them, by kind."),
    "moongate_cost_dollars_total": ("counter", "What answers cost, in dollars, where tokens and prices are known."),
    "moongate_cost_unknown_total": ("counter", "Answers whose cost is not known, by provider and model."),
    "moongate_client_requests_total": ("counter", "Requests by client and status; with `client_metrics`."),
    "moongate_client_tokens_total": ("counter", "Tokens by client and kind; with `client_metrics`."),
    "moongate_client_cost_dollars_total": ("counter", "Dollars by client; with `client_metrics`."),
    "moongate_answers_total": (
        "counter",
        "Answers of providers by worth, those to requests with tools counted separately.",
    ),
    "moongate_damage_total": ("counter", "Damaged answers by the kind of damage; one answer may have several kinds."),
    "moongate_schema_checks_skipped_total": (
        "counter",
        "Answers whose calls were not checked against their schemas, because too many waited or the check failed.",
    ),
    "moongate_repairs_total": (
        "counter",
        "Repairs by kind, provider, model, and whose mistake they mend: vendor or client.",
    ),
    "moongate_route_choices_total": (
        "counter",
        "Requests of a route by the target that was asked last, and why it was chosen.",
    ),
    "moongate_attempts_total": ("counter", "Upstream requests by provider, model and outcome."),
    "moongate_guard_tries_total": (
        "counter",
        "Further tries of the guard by provider, model and result: sent, failed, or why none was made.",
    ),
    "moongate_cool_downs_total": ("counter", "Times that a target was put in cool-down after failures."),
    "moongate_learned_rules_total": (
        "counter",
        "Rules that refusals of providers taught, by rule and target.",
    ),
    "moongate_budget_warnings_total": ("counter", "Requests of keys or teams that have used 80 % of a budget or more."),
    "moongate_limited_total": (
        "counter",
        "Requests refused by a limit of a key, a team or an address.",
    ),
    "moongate_usage_lost_total": (
        "counter",
        "Requests whose usage could not be recorded, because the journal was full.",
    ),
    "moongate_captures_lost_total": ("counter", "Captures that were dropped, because too many waited to be stored."),
    "moongate_spans_total": ("counter", "Spans of traces that were sent."),
    "moongate_spans_lost_total": ("counter", "Spans of traces that were lost: no room, export failed, or refused."),
    "moongate_state_away": ("gauge", "Workers that cannot reach the shared state now."),
    "moongate_state_losses_total": ("counter", "Times that a worker has lost its connection to the shared state."),
    "moongate_state_missed_total": ("counter", "Requests for which the shared state gave no answer in time."),
    "moongate_state_local_checks_total": (
        "counter",
        "Requests that went by this gateway's own limits, because the shared state gave no answer.",
    ),
    "moongate_state_unreported_total": (
        "counter",
        "Ended requests that could not be reported to the shared state: no room, or refused.",
    ),
    "moongate_client_left_total": ("counter", "Answers whose client went away before the end."),
    "moongate_requests_in_flight": ("gauge", "Requests being answered now."),
    "moongate_streams_open": ("gauge", "Streams being relayed now."),
    "moongate_loop_stall_seconds": ("gauge", "The longest time that the event loop was blocked, by worker."),
    "moongate_loop_stalls_total": ("counter", "Times that the event loop was blocked for more than 25 ms, by worker."),
    "moongate_reloads_total": ("counter", "Reloads of the configuration, by result."),
    "moongate_log_lines_dropped_total": ("counter", "Access log lines that could not be written."),
}


IN_MILLIONTHS: Final = frozenset(
    {"moongate_cost_dollars_total", "moongate_client_cost_dollars_total"}
)  # counters are integers


def labels(**label_values: str) -> str:
    """`{a="b"}`, escaped; empty without labels."""
    pairs = ",".join(f'{name}="{_escaped(value)}"' for name, value in label_values.items())
    return "{" + pairs + "}" if pairs else ""


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", " ")


def bounds_of(family: str) -> Sequence[float]:
    """The upper bounds of a histogram's buckets, in seconds."""
    return OVERHEAD_BUCKETS if family == OVERHEAD else BUCKETS


class Histogram:
    """One histogram with its labels."""

    __slots__ = ("_bounds", "_buckets", "_sum", "_values")

    def __init__(self, slots: SharedCounters, family: str, label_text: str) -> None:
        self._values = slots.values
        bounds = bounds_of(family)
        self._bounds: list[float] = list(bounds)
        self._buckets = [slots.slot(f"{family}\t{label_text}\t{index}") for index in range(len(bounds) + 1)]
        self._sum = slots.slot(f"{family}\t{label_text}\tsum")

    def observe(self, seconds: float) -> None:
        at = 0
        for bound in self._bounds:  # most times are short
            if seconds <= bound:
                break
            at += 1
        self._values[self._buckets[at]] += 1
        self._values[self._sum] += int(seconds * 1e6)


class Metrics:
    """The counters of one worker."""

    def __init__(self, slots: SharedCounters) -> None:
        self.slots = slots
        self.computed: Callable[[], Iterable[str]] = tuple  # lines of metrics that are computed when they are read
        self.values = slots.values
        self.in_flight = self.counter("moongate_requests_in_flight")
        self.streams = self.counter("moongate_streams_open")
        self.dropped_lines = self.counter("moongate_log_lines_dropped_total")
        self.client_left = self.counter("moongate_client_left_total")
        self.values[self.in_flight] = self.values[self.streams] = 0  # a worker that died may have left them above zero

    def counter(self, family: str, **label_values: str) -> int:
        """The slot of a counter or gauge."""
        return self.slots.slot(f"{family}\t{labels(**label_values)}\t")

    def count(self, family: str, **label_values: str) -> None:
        """Add one to a counter that is rarely used; others keep their slot."""
        self.values[self.counter(family, **label_values)] += 1

    def count_dropped_lines(self, number: int) -> None:
        self.values[self.dropped_lines] += number

    def histogram(self, family: str, **label_values: str) -> Histogram:
        return Histogram(self.slots, family, labels(**label_values))

    def text(self, build: str) -> str:
        """All metrics, summed over all workers, in the text format of Prometheus."""
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
                    lines.append(f"{family}{label_text} {_value(family, parts[''])}")
        return "\n".join([*lines, *self.computed()]) + "\n"


def _value(family: str, value: int) -> str:
    if family in IN_MILLIONTHS:
        return f"{value / 1e6:.6f}"
    return f"{value / 1e6:.3f}" if family.endswith("_seconds") else str(value)


def _histogram(family: str, label_text: str, parts: dict[str, int]) -> Iterable[str]:
    inner = label_text[1:-1] + "," if label_text else ""
    total, bounds = 0, bounds_of(family)
    for index in range(len(bounds) + 1):
        total += parts.get(str(index), 0)
        bound = f"{bounds[index]:g}" if index < len(bounds) else "+Inf"
        yield f'{family}_bucket{{{inner}le="{bound}"}} {total}'
    yield f"{family}_sum{label_text} {parts.get('sum', 0) / 1e6:.6f}"
    yield f"{family}_count{label_text} {total}"
