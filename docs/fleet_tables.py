"""Tables of `docs/fleet.md`, from what `make fleet` has kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from moongate.payload import loads

RESULTS: Final = Path(__file__).parents[1] / "bench" / "results" / "fleet.json"
TITLES: Final = {"exact": "Limits under load", "mixed": "Ten minutes with everything dying"}
HEAD: Final = "| second | | answered | 429 | 5xx | cut | median ms | longest ms |\n|---|---|---|---|---|---|---|---|\n"


def results() -> dict[str, Any]:
    found: dict[str, Any] = loads(RESULTS.read_bytes())
    return found


def drill_tables() -> str:
    """What clients saw in each drill, second by second."""
    return "\n".join(_drill(each) for each in results().values() if "rows" in each)


def figure_tables() -> str:
    """The figures of the scenarios that are no drills."""
    parts, found = [], results()
    for name, title in TITLES.items():
        rows = "".join(
            f"| {what} | {_number(value)} |\n" for what, value in found.get(name, {"figures": ()})["figures"]
        )
        parts.append(f"**{title}** (`python -m tests.fleet {name}`)\n\n| figure | found |\n|---|---|\n{rows}")
    return "\n".join(parts)


def _drill(drill: dict[str, Any]) -> str:
    lines = [f"**{drill['title']}**\n\n{HEAD}"]
    for second, row in enumerate(drill["rows"]):
        event = {int(drill["away"]): "away", int(drill["back"]): "back"}.get(second, "")
        lines.append(f"| {second} | {event} | {' | '.join(map(str, row))} |\n")
    said = [f"{what}: {_number(value)}" for what, value in drill["figures"]]
    return "".join(lines) + f"\n{'; '.join(said)}.\n"


def _number(value: float) -> str:
    return f"{value:,.0f}".replace(",", " ") if value == int(value) else f"{value:.3f}"
