"""The simulator's behaviours as a Markdown table, for the documentation."""

from __future__ import annotations

from typing import Final

from moongate.sim.rows import ROWS

TITLES: Final = {
    "mode": "Modes",
    "host": "Hosts",
    "ids": "Ids of calls",
    "finish": "Finish reasons",
    "markup": "Markup instead of native calls",
    "shape": "Shapes of calls",
    "usage": "Usage",
    "framing": "Framing",
    "fault": "Faults",
    "refusal": "Refusals",
    "damage": "Damaged turns",
}


def behaviours_table() -> str:
    """One table per group of rows."""
    parts = []
    for group, title in TITLES.items():
        rows = [row for row in ROWS if row.group == group]
        lines = [f"| `{row.name}` | {_families(row.families)} | {row.about.replace('<', '&lt;')} |" for row in rows]
        parts.append("\n".join([f"### {title}", "", "| row | family | what it plays |", "|---|---|---|", *lines]))
    return "\n\n".join(parts)


def _families(families: tuple[str, ...]) -> str:
    return ", ".join(families).upper() or "all"
