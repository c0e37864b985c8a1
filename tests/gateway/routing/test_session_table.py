from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from random import Random

import pytest

from moongate.gateway.routing.session_key import session_key
from moongate.gateway.routing.session_table import IDLE_MINUTES, SETS, WAYS, SessionTable, target_mark

MINUTE = 60.0


@pytest.fixture(params=["alone", "shared"])
def table(request: pytest.FixtureRequest, tmp_path: Path) -> SessionTable:
    return SessionTable(tmp_path if request.param == "shared" else None)


def test_a_session_is_found_where_it_was_put(table: SessionTable) -> None:
    assert table.get(7, 0.0) == 0
    table.put(7, 42, 0.0)
    assert table.get(7, 0.0) == 42
    table.put(7, 65_535, 0.0)
    assert table.get(7, 0.0) == 65_535
    assert table.get(8, 0.0) == 0


def test_an_idle_session_is_forgotten_and_one_in_use_is_not(table: SessionTable) -> None:
    table.put(7, 42, 0.0)
    table.put(9, 42, 0.0)
    for minute in range(0, 3 * IDLE_MINUTES, 30):
        assert table.get(7, minute * MINUTE) == 42
    assert table.get(9, (IDLE_MINUTES + 1) * MINUTE) == 0


def test_workers_see_each_others_sessions(tmp_path: Path) -> None:
    first, second = SessionTable(tmp_path), SessionTable(tmp_path)
    first.put(1, 5, 0.0)
    assert second.get(1, 0.0) == 5


def test_the_session_that_was_idle_longest_makes_room() -> None:
    table = SessionTable()
    same_set = [tag << 36 | tag << 4 for tag in range(1, WAYS + 2)]
    for number, session in enumerate(same_set[:WAYS]):
        table.put(session, number + 1, number * MINUTE)
    table.get(same_set[0], 10 * MINUTE)  # in use again
    table.put(same_set[WAYS], 9, 11 * MINUTE)
    assert [table.get(session, 11 * MINUTE) for session in same_set] == [1, 0, 3, 4, 9]


def test_half_as_many_sessions_as_places_are_nearly_all_found() -> None:
    table, draw = SessionTable(), Random(3)
    sessions = {draw.getrandbits(62): number % 60_000 + 1 for number in range(SETS * WAYS // 2)}
    for session, mark in sessions.items():
        table.put(session, mark, 0.0)
    found = sum(table.get(session, 0.0) == mark for session, mark in sessions.items())
    assert found / len(sessions) > 0.95


@pytest.mark.parametrize("clients", [1, 32_768])
def test_sessions_with_similar_names_are_told_apart(clients: int) -> None:
    """Of one client, or of as many clients that all count from 1."""
    table = SessionTable()
    digests = [sha256(b"%d" % number).digest() for number in range(clients)]
    sessions = [
        session_key({b"x-session-id": b"%d" % (number // clients)}, {}, digests[number % clients])
        for number in range(SETS * WAYS // 2)
    ]
    assert len(set(sessions)) > 0.999 * len(sessions)
    for number, session in enumerate(sessions):
        table.put(session, number % 60_000 + 1, 0.0)
    found = sum(table.get(session, 0.0) == number % 60_000 + 1 for number, session in enumerate(sessions))
    assert found / len(sessions) > 0.95
    strangers = [session_key({b"x-session-id": b"new %d" % number}, {}, digests[0]) for number in range(10_000)]
    assert sum(table.get(session, 0.0) > 0 for session in strangers) < 5


def test_marks_of_targets_are_different_and_never_zero() -> None:
    first = target_mark(b"a,x")
    assert 1 <= first <= 65_535
    assert target_mark(b"a,x") == first
    assert target_mark(b"a,x", {first}) not in (0, first)
    assert target_mark(b"a,x", set(range(1, 65_536)) - {3}) == 3
