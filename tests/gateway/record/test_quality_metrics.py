from __future__ import annotations

from dataclasses import dataclass, field

from moongate.gateway.record.quality_metrics import quality_lines
from moongate.gateway.routing.quality import TargetScore


@dataclass
class Scored:
    provider: str
    model: str
    score: TargetScore = field(default_factory=TargetScore)


def test_scores_are_gauges() -> None:
    good = Scored("p", 'm"')
    for _ in range(20):
        good.score.record("repaired", 0.0)
    lines = list(quality_lines([good, Scored("q", "n")], 0.0))
    assert "# TYPE moongate_quality_score gauge" in lines
    assert 'moongate_quality_score{provider="q",model="n"} 0.950000' in lines
    found = {
        line.split("{")[0]: float(line.split()[-1]) for line in lines if line.startswith("moongate") and '"p"' in line
    }
    assert 0.97 < found["moongate_quality_score"] < 0.98
    assert 0.47 < found["moongate_quality_raw"] < 0.5
    assert found["moongate_quality_low"] < found["moongate_quality_score"] < found["moongate_quality_high"]
    assert 19 < found["moongate_quality_answers"] < 20
