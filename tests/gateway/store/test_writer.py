"""From the journal into the database, with workers that are killed and databases that go away."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.gateway.store.rows import DAY, usage_row
from tests.support.postgres import PostgresServer

from moongate.gateway.store.connect import open_database
from moongate.gateway.store.database import Database
from moongate.gateway.store.errors import StoreBusy, StoreDenied, StoreError, StoreUnreachable
from moongate.gateway.store.journal import Journal, recover_dead, segments
from moongate.gateway.store.record import UsageRow
from moongate.gateway.store.row_ids import day_of_row
from moongate.gateway.store.segment import SEGMENT_BYTES
from moongate.gateway.store.usage import UsageTable
from moongate.gateway.store.usage_report import usage_sums
from moongate.gateway.store.writer import UsageWriter


def until(condition: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.01)


def stored(url: str) -> list[UsageRow]:
    database = open_database(url)
    rows = UsageTable(database).find([row[0] for row in database.rows("SELECT id FROM usage")])
    expected = len(rows)
    assert sum(each["requests"] for each in usage_sums(database, ("key", "day"))) == expected
    database.close()
    return sorted(rows)


def begin(journal: Journal, row: UsageRow) -> int:
    return journal.begin(row.id, row.label, row.request.encode(), row[3:])


def end(journal: Journal, slot: int, row: UsageRow) -> bool:
    return journal.end(slot, row.id, row.label, row.request.encode(), row[3:])


def one_row(journal: Journal, **changes: object) -> UsageRow:
    return usage_row(0, **changes)._replace(id=journal.ids.take())  # type: ignore[arg-type]


def test_rows_go_from_the_journal_into_the_store(store_url: str, tmp_path: Path) -> None:
    folder = tmp_path / "journal"
    journal = Journal(folder)
    writer = UsageWriter(store_url, folder)
    writer.start()
    rows = []
    for number in range(3000):
        row = one_row(journal, key=f"key_{number % 7}")
        slot = begin(journal, row._replace(estimated=1))
        assert slot >= 0
        rows.append(row)
        assert end(journal, slot, row)
    dropped = begin(journal, one_row(journal))
    journal.drop(dropped)
    until(lambda: writer.written == 3000)
    journal.close()
    writer.close()
    assert stored(store_url) == rows
    assert segments(folder) == []
    assert Journal(folder).recovered == []


def test_the_rows_of_the_last_moment_are_taken_at_the_end(store_url: str, tmp_path: Path) -> None:
    journal, folder = Journal(tmp_path / "journal"), tmp_path / "journal"
    writer = UsageWriter(store_url, folder)
    writer.start()
    rows = [one_row(journal) for _ in range(2500)]
    for row in rows:
        end(journal, -1, row)
    journal.close()
    writer.close(20)
    assert stored(store_url) == rows


def test_all_rows_of_the_last_moment_are_taken_when_few_fill_a_read(store_url: str, tmp_path: Path) -> None:
    folder = tmp_path / "journal"
    journal, writer = Journal(folder), UsageWriter(store_url, folder)
    assert writer._elected()
    rows = [one_row(journal, key="k" * 200, team="t" * 200, model="m" * 200) for _ in range(1200)]
    for row in rows:
        end(journal, -1, row)
    journal.close()
    writer._finish()
    writer.close()
    assert stored(store_url) == rows
    assert segments(folder) == []


def test_the_last_rows_are_taken_though_the_connection_has_died_meanwhile(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    url, folder = postgres.new_database("stale"), tmp_path / "journal"
    faults: list[StoreError] = []
    journal, writer = Journal(folder), UsageWriter(url, folder, on_error=faults.append)
    assert writer._elected()
    rows = [one_row(journal) for _ in range(2)]
    end(journal, -1, rows[0])
    writer.take()
    database = open_database(url)
    database.rows(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = ?",
        ("stale",),
    )
    database.close()
    end(journal, -1, rows[1])
    journal.close()
    writer._finish()
    writer.close()
    assert len(faults) == 1
    assert stored(url) == rows
    assert segments(folder) == []


def test_a_worker_that_starts_beside_the_one_that_writes_waits_for_what_was_there_and_no_longer(
    store_url: str, tmp_path: Path
) -> None:
    """The one that writes holds its lock as long as it lives: the replacement of a killed worker must serve soon."""
    looked = threading.Event()

    class Starting(UsageWriter):
        tries = 0

        def _elected(self) -> bool:
            self.tries += 1
            if self.tries == 2:  # it has looked at the journal since the first try
                looked.set()
            return super()._elected()

    folder = tmp_path / "journal"
    journal, writes = Journal(folder), UsageWriter(store_url, folder)
    rows = [one_row(journal) for _ in range(3)]
    end(journal, -1, rows[0])
    assert writes._elected()
    stored_at_the_end: list[int] = []

    def catch_up() -> None:
        Starting(store_url, folder).catch_up(60)
        stored_at_the_end.append(writes.written)

    starting = threading.Thread(target=catch_up)
    starting.start()
    assert looked.wait(60)
    end(journal, -1, rows[1])  # a worker that serves goes on
    assert stored_at_the_end == []
    assert writes.take() == 2
    end(journal, -1, rows[2])
    starting.join(60)
    assert stored_at_the_end == [2]
    journal.close()
    UsageWriter(store_url, folder).catch_up(0.05)  # somebody writes who is stuck: it has an end
    writes.close()


def test_a_worker_that_leaves_waits_for_the_one_that_writes(store_url: str, tmp_path: Path) -> None:
    """The one that writes has looked at the journal for the last time, and another worker's last rows come after it."""
    folder = tmp_path / "journal"
    journal, busy, leaving = Journal(folder), UsageWriter(store_url, folder), UsageWriter(store_url, folder)
    assert busy._elected()
    leaving.start()
    row = one_row(journal)
    end(journal, -1, row)
    journal.close()
    timer = threading.Timer(1, busy.close)
    timer.start()
    leaving.close(20, journal.number)
    timer.join()
    assert stored(store_url) == [row]
    assert segments(folder) == []


def test_a_worker_that_leaves_does_not_wait_for_what_others_still_write(store_url: str, tmp_path: Path) -> None:
    folder = tmp_path / "journal"
    journal, other = Journal(folder), Journal(folder)
    end(other, -1, one_row(other))
    writes, leaving = UsageWriter(store_url, folder), UsageWriter(store_url, folder)
    assert writes._elected()
    leaving.start()
    journal.close()
    leaving.close(20, journal.number)
    assert leaving._runner is not None
    assert not leaving._runner.is_alive()
    assert len(segments(folder)) == 1
    writes.close()
    other.close()


def test_what_a_killed_worker_left_goes_with_a_successor_that_wrote_nothing(store_url: str, tmp_path: Path) -> None:
    folder = tmp_path / "journal"
    dead = Journal(folder, worker=1)
    end(dead, -1, one_row(dead))
    os.close(dead._lock)  # as if it had died
    successor, writer = Journal(folder, worker=1), UsageWriter(store_url, folder)
    writer.start()
    until(lambda: writer.written == 1)
    successor.close()
    writer.close(20)
    assert segments(folder) == []


def test_a_killed_workers_rows_are_kept_and_its_open_requests_are_estimated(store_url: str, tmp_path: Path) -> None:
    folder = tmp_path / "journal"
    pid = os.fork()
    if pid == 0:
        journal = Journal(folder, worker=3)
        done = [one_row(journal) for _ in range(50)]
        for row in done:
            end(journal, begin(journal, row._replace(estimated=1)), row)
        for _ in range(7):
            begin(journal, one_row(journal, estimated=1, output=8192))
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(pid, 0)
    writer = UsageWriter(store_url, folder)
    writer.start()
    until(lambda: writer.written == 57)
    writer.close()
    rows = stored(store_url)
    assert [row.estimated for row in rows] == [0] * 50 + [1] * 7
    assert segments(folder) == []


def test_a_successor_recovers_what_its_number_had_open(tmp_path: Path) -> None:
    folder = tmp_path / "journal"
    first = Journal(folder, worker=1)
    row = one_row(first, estimated=1)
    begin(first, row)
    (folder / "01-0000000000001.new").touch()  # a segment that it had not finished
    os.close(first._lock)  # as if it had died
    second = Journal(folder, worker=1)
    assert not list(folder.glob("*.new"))
    assert second.recovered == [row]
    assert second.number == 1
    second.close()
    assert Journal(folder, worker=1).recovered == []


def test_the_segments_of_a_successor_are_not_taken_for_those_of_the_dead(store_url: str, tmp_path: Path) -> None:
    """A segment that is empty for a moment is removed only if nobody appends to it any more."""
    folder = tmp_path / "journal"
    dead = Journal(folder, worker=1)
    end(dead, -1, one_row(dead))
    os.close(dead._lock)  # as if it had died
    writer = UsageWriter(store_url, folder)
    writer.catch_up(10)
    assert segments(folder) == []
    successor = Journal(folder, worker=1)
    for _ in range(3):
        end(successor, -1, one_row(successor))
        writer.take()
    assert writer.written == 4
    successor.close()
    writer.take()
    writer.close()
    assert segments(folder) == []


def test_numbers_are_not_shared(tmp_path: Path) -> None:
    journals = [Journal(tmp_path) for _ in range(3)]
    assert [journal.number for journal in journals] == [0, 1, 2]
    assert len({journal.ids.take() & 4095 for journal in journals}) == 3
    with pytest.raises(StoreBusy):
        Journal(tmp_path, worker=1, exact=True)
    assert recover_dead(tmp_path) == set()
    for journal in journals:
        journal.close()


def test_a_journal_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreDenied, match="cannot be written"):
        Journal(tmp_path / "file" / "journal")


def test_the_journal_grows_to_its_limit_and_tells_what_is_lost(tmp_path: Path) -> None:
    journal = Journal(tmp_path, limit=2 * SEGMENT_BYTES)
    kept = 0
    while not journal.lost:
        kept += end(journal, -1, one_row(journal))
    assert kept * 100 < 2 * SEGMENT_BYTES < kept * 300
    assert journal.is_full
    assert journal.size() == 2 * SEGMENT_BYTES
    assert not end(journal, -1, one_row(journal))
    assert journal.lost == 2
    url = str(tmp_path / "moongate.db")
    writer = UsageWriter(url, tmp_path)
    while writer.take():
        pass
    assert not journal.is_full
    assert end(journal, -1, one_row(journal))  # there is room again
    while writer.take():
        pass
    assert len(stored(url)) == kept + 1
    journal.close()


def test_a_database_that_is_away_costs_nothing(postgres: PostgresServer, tmp_path: Path) -> None:
    server = PostgresServer()
    try:
        url, faults = server.url(), list[StoreError]()
        journal, writer = Journal(tmp_path), UsageWriter(url, tmp_path, on_error=faults.append)
        writer.start()
        rows = [one_row(journal) for _ in range(300)]
        for row in rows[:100]:
            end(journal, -1, row)
        until(lambda: writer.written == 100)
        server.kill()
        for row in rows[100:]:
            end(journal, -1, row)
        until(lambda: len(faults) > 0)
        assert isinstance(faults[0], StoreUnreachable)
        server.start()
        until(lambda: writer.written >= 300)
        writer.close()
        journal.close()
        assert stored(url) == rows
    finally:
        server.stop()


def test_workers_that_are_killed_again_and_again_lose_and_invent_nothing(store_url: str, tmp_path: Path) -> None:
    """Four workers, each of which also wants to be the writer; one of them is killed every now and then."""
    folder, diary = tmp_path / "journal", tmp_path / "diary"
    diary.mkdir()

    def work(number: int, life: int) -> None:
        random.seed(life)
        journal, writer = Journal(folder, worker=number), UsageWriter(store_url, folder)
        writer.start()
        with (diary / f"{life}").open("w", buffering=1) as notes:
            while True:
                row = one_row(journal, key=f"key_{number}", output=random.randrange(1000), cost=random.randrange(10**6))
                notes.write(f"open {row.id}\n")
                slot = begin(journal, row._replace(estimated=1, output=9999, cost=10**7))
                notes.write(f"begun {row.id}\n")
                end(journal, slot, row)
                notes.write(f"done {row.id} {row.output} {row.cost}\n")
                time.sleep(0.0005)

    def spawn(number: int, life: int) -> int:
        pid = os.fork()
        if pid == 0:
            work(number, life)
        return pid

    pids, life = {number: spawn(number, number) for number in range(4)}, 4
    for kills in range(1, 9):
        time.sleep(0.25)
        until(lambda: sum(path.stat().st_size for path in diary.iterdir()) > 10_000 * kills)  # noqa: B023
        number = life % 4
        os.kill(pids[number], signal.SIGKILL)
        os.waitpid(pids[number], 0)
        pids[number] = spawn(number, life)
        life += 1
    for pid in pids.values():
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    writer = UsageWriter(store_url, folder)
    writer.start()
    writer.close(60)
    _compare({row.id: row for row in stored(store_url)}, diary)
    assert segments(folder) == []


def _compare(rows: dict[int, UsageRow], diary: Path) -> None:
    opened, begun, done = set[int](), set[int](), dict[int, tuple[int, int]]()
    for path in diary.iterdir():
        for line in path.read_text().splitlines():
            word, row_id, *values = line.split()
            if word == "open":
                opened.add(int(row_id))
            elif word == "begun":
                begun.add(int(row_id))
            elif len(values) == 2:
                done[int(row_id)] = (int(values[0]), int(values[1]))
    assert len(done) > 500
    assert begun <= set(rows) <= opened
    for key, expected in done.items():
        assert (rows[key].output, rows[key].cost, rows[key].estimated) == (*expected, 0)
    assert len([row for row in rows.values() if row.estimated]) <= 12


def test_old_rows_leave_by_themselves(tmp_path: Path) -> None:
    url = str(tmp_path / "moongate.db")
    database: Database = open_database(url)
    UsageTable(database).add([usage_row(n, day=DAY + n) for n in range(5)])
    writer = UsageWriter(url, tmp_path, retention_days=2, today=lambda: DAY + 4)
    writer.catch_up(10)  # as at the start of a gateway
    writer.start()
    until(lambda: len(database.rows("SELECT id FROM usage")) == 3)
    writer.close()
    assert {day_of_row(row[0]) for row in database.rows("SELECT id FROM usage")} == {DAY + 2, DAY + 3, DAY + 4}
    database.close()


def test_a_journal_folder_that_cannot_be_read_is_reported(tmp_path: Path) -> None:
    faults: list[StoreError] = []
    (tmp_path / "00-00000001.journal").mkdir()
    writer = UsageWriter(str(tmp_path / "moongate.db"), tmp_path, on_error=faults.append)
    writer.start()
    until(lambda: len(faults) > 0)
    writer.close()
    assert "cannot be read" in faults[0].message
