"""The quality of targets as gauges: computed when the metrics are read, because they change with time alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Protocol

from moongate.gateway.record.metrics import labels
from moongate.gateway.routing.quality import TargetScore

GAUGES: Final = {
    "score": "Share of good answers to requests with tools, decayed, with a prior of 20 answers at 0.95.",
    "low": "Lower end of the 90 % interval of the score.",
    "high": "Upper end of the 90 % interval of the score.",
    "raw": "The score with repairs counted against the provider.",
    "answers": "Answers that the score is made of, after decay.",
}


class ScoredTarget(Protocol):
    @property
    def provider(self) -> str: ...

    @property
    def model(self) -> str: ...

    @property
    def score(self) -> TargetScore: ...


def quality_lines(targets: Sequence[ScoredTarget], now: float) -> Iterator[str]:
    """`moongate_quality_score{provider="p",model="m"} 0.95` and so on, in the text format of Prometheus."""
    found = [(labels(provider=each.provider, model=each.model), each.score.quality(now)) for each in targets]
    for name, about in GAUGES.items():
        family = f"moongate_quality_{name}"
        yield f"# HELP {family} {about}"
        yield f"# TYPE {family} gauge"
        for label_text, quality in found:
            yield f"{family}{label_text} {getattr(quality, name):.6f}"
