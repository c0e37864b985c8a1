"""Draws the simulation of routes, and writes its figures into docs/routing.md: `python -m bench.route_charts`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from bench.chart import PALETTE, WIDTH, svg, text
from bench.route_simulation import (
    BREAKS,
    HOUR,
    MENDS,
    MINUTE,
    Load,
    SimulationRun,
    large_and_small,
    simulate,
    three_vendors,
)

DOCS = Path(__file__).parent.parent / "docs"
LEFT, RIGHT, TOP, BOTTOM = 60, WIDTH - 170, 40, 270
SMALL_LOAD = Load(3000, 8.0)

Line = Sequence[tuple[float, float]]  # hours, value


@dataclass(frozen=True)
class Simulations:
    """The runs that the charts show."""

    quality: SimulationRun
    weighted: SimulationRun
    small: SimulationRun
    full: SimulationRun  # the small vendor takes four requests a minute

    @classmethod
    def all(cls) -> Simulations:
        return cls(
            simulate(three_vendors(), "quality", Load()),
            simulate(three_vendors(), "weighted", Load()),
            simulate(large_and_small(), "quality", SMALL_LOAD),
            simulate(large_and_small(4), "quality", SMALL_LOAD),
        )


@cache
def simulations() -> Simulations:
    return Simulations.all()


def chart(title: str, lines: Mapping[str, Line], top: float = 1.0, low: float = 0.0, hours: float = 24.0) -> str:
    """Values over hours, the hour of the outage shaded where it is in the picture."""
    parts = [text(12, 20, title, weight="bold"), text((LEFT + RIGHT) / 2, 305, "hours", "middle")]

    def place(hour: float, value: float) -> tuple[float, float]:
        height = (min(max(value, low), top) - low) / (top - low)
        return LEFT + hour / hours * (RIGHT - LEFT), BOTTOM - height * (BOTTOM - TOP)

    if hours > MENDS / HOUR:
        begin, end = place(BREAKS / HOUR, 0)[0], place(MENDS / HOUR, 0)[0]
        box = f'x="{begin:.0f}" y="{TOP}" width="{end - begin:.0f}" height="{BOTTOM - TOP}"'
        parts.append(f'<rect {box} fill="#f3dcdc"/>')
    for step in range(5):
        value = low + (top - low) * step / 4
        _, y = place(0, value)
        parts.append(f'<line x1="{LEFT}" x2="{RIGHT}" y1="{y:.0f}" y2="{y:.0f}" stroke="#ddd"/>')
        parts.append(text(LEFT - 6, y + 4, f"{value:.0%}", "end"))
    parts += [text(place(hour, 0)[0], BOTTOM + 16, str(hour), "middle") for hour in range(0, int(hours) + 1, 4)]
    for at, (name, line) in enumerate(lines.items()):
        colour = PALETTE[at % len(PALETTE)]
        drawn = " ".join("{:.1f},{:.1f}".format(*place(*point)) for point in line)
        parts.append(f'<polyline points="{drawn}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts.append(text(RIGHT + 10, TOP + 12 + 16 * at, f"— {name}").replace("<text", f'<text fill="{colour}"'))
    return svg(315, parts)


def damage(run: SimulationRun, hours: int = 24, per_hour: int = 4) -> Line:
    step = HOUR / per_hour
    slots = hours * per_hour
    return [((at + 0.5) / per_hour, run.damaged(at * step, (at + 1) * step)) for at in range(slots)]


def shares(run: SimulationRun, target: int, hours: int = 24) -> Line:
    half = HOUR / 2
    return [((at + 0.5) / 2, run.share(target, at * half, (at + 1) * half)) for at in range(hours * 2)]


def scores(run: SimulationRun, target: int) -> Line:
    return [(when / HOUR, found[target].score) for when, found in run.scores if when <= 24 * HOUR]


def charts(runs: Simulations) -> dict[Path, str]:
    """Each picture by its file."""
    names = runs.quality.names
    shown = {name: shares(runs.quality, at) for at, name in enumerate(names)}
    both = {"by weight": damage(runs.weighted), "by quality": damage(runs.quality)}
    small = {
        "no limit": shares(runs.small, 1, 8),
        "4 requests a minute": shares(runs.full, 1, 8),
    }
    return {
        DOCS / "routing-damage.svg": chart("Damaged answers", both),
        DOCS / "routing-sessions.svg": chart("New sessions by quality", shown),
        DOCS / "routing-scores.svg": chart(
            "Scores", {name: scores(runs.quality, at) for at, name in enumerate(names)}, low=0.5
        ),
        DOCS / "routing-small.svg": chart("New sessions that go to a small perfect vendor", small, hours=8.0),
    }


def noticed(run: SimulationRun) -> float:
    """Seconds from the outage until nobody but those that explore is sent to the broken vendor."""
    times = [turn.when for turn in run.turns if turn.target == 0 and turn.reason != "explore"]
    return max(when for when in times if when < MENDS) - BREAKS


def came_back(run: SimulationRun) -> float:
    """Seconds from the end of the outage until the vendor is as good as the best one again."""
    return run.changes(0, MENDS)[0] - MENDS


def figures(runs: Simulations) -> str:
    """The table of docs/routing.md."""
    quality, weighted = runs.quality, runs.weighted
    rows = [
        ("damaged answers, whole day, by weight → by quality", f"{weighted.damaged():.1%} → {quality.damaged():.1%}"),
        (
            "during the outage",
            f"{weighted.damaged(BREAKS, MENDS):.1%} → {quality.damaged(BREAKS, MENDS):.1%}",
        ),
        ("until the outage is noticed", f"{noticed(quality):.0f} s"),
        ("until the vendor is trusted again", f"{came_back(quality) / MINUTE:.0f} min after its end"),
        ("moves per session", f"{quality.moves():.4f}"),
        ("turns at their session's target, before the outage", f"{quality.kept(0, BREAKS):.1%}"),
        (
            "changes of a vendor's rank in the last eleven hours",
            ", ".join(f"{name}: {len(quality.changes(at, 13 * HOUR))}" for at, name in enumerate(quality.names)),
        ),
        ("new sessions at the small perfect vendor, last hour", f"{runs.small.share(1, 7 * HOUR, 8 * HOUR):.0%}"),
        ("the same if it takes four requests a minute", f"{runs.full.share(1, 7 * HOUR, 8 * HOUR):.0%}"),
    ]
    return "| | |\n|---|---|\n" + "".join(f"| {name} | {value} |\n" for name, value in rows)


if __name__ == "__main__":
    from docs.generate import filled

    for path, picture in charts(simulations()).items():
        path.write_text(picture, encoding="utf-8")
    page = DOCS / "routing.md"
    page.write_text(filled(page.read_text(encoding="utf-8"), simulation=figures(simulations())), encoding="utf-8")
