from __future__ import annotations

from pathlib import Path

from moongate.gateway.routing.memory import RoutingMemory
from moongate.gateway.routing.score_table import ScoreTable


def test_the_same_name_is_the_same_score() -> None:
    table = ScoreTable()
    assert table.score("a,x") is table.score("a,x")
    assert table.score("a,x") is not table.score("b,x")


def test_workers_count_in_the_same_row(tmp_path: Path) -> None:
    first, second = ScoreTable(tmp_path), ScoreTable(tmp_path)
    first.score("a,x").record("clean", 5.0)
    second.score("a,x").record("damaged", 5.0)
    assert first.score("a,x").quality(5.0) == second.score("a,x").quality(5.0)
    assert first.score("a,x").quality(5.0).answers > 1.9
    assert second.score("b,x").quality(5.0).answers == 0


def test_the_table_of_sessions_is_made_when_it_is_needed(tmp_path: Path) -> None:
    memory = RoutingMemory(tmp_path)
    assert not (tmp_path / "sessions").exists()
    memory.sessions.put(1, 2, 0.0)
    assert RoutingMemory(tmp_path).sessions.get(1, 0.0) == 2
    assert memory.sessions is memory.sessions
