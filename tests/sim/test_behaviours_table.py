from __future__ import annotations

from pathlib import Path

from moongate.sim.behaviours_table import TITLES, behaviours_table
from moongate.sim.rows import ROWS

PAGE = Path(__file__).parent.parent.parent / "docs" / "simulator.md"


def test_every_row_is_in_the_table() -> None:
    table = behaviours_table()
    assert {row.group for row in ROWS} == set(TITLES)
    assert all(f"| `{row.name}` |" in table for row in ROWS)


def test_the_page_is_current() -> None:
    assert behaviours_table() in PAGE.read_text(encoding="utf-8")
