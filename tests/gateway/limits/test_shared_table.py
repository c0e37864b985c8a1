"""The shared table, with real processes on a real file."""

from __future__ import annotations

import fcntl
import os
import signal
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

from moongate.gateway.limits.shared_table import (
    COLUMNS,
    IN_FLIGHT,
    REQUESTS_TAT,
    RESERVED_MONEY,
    RESERVED_TOKENS,
    SPENT_MONEY,
    SPENT_TOKENS,
    SharedTable,
)


def identity(number: int) -> bytes:
    return sha256(str(number).encode()).digest()


def in_process(work: Callable[[], None]) -> int:
    """Run it in a process of its own; gives the process id."""
    pid = os.fork()
    if pid == 0:
        try:
            work()
            os._exit(0)
        except BaseException:
            os._exit(1)
    return pid


def ended(pid: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_rows_are_found_by_every_worker(tmp_path: Path) -> None:
    first, second = SharedTable(tmp_path, worker=0, workers=2), SharedTable(tmp_path, worker=1, workers=2)
    rows = [first.row(identity(n)) for n in range(5)]
    assert [second.row(identity(n)) for n in range(5)] == rows
    added = second.row(identity(9))
    assert added is not None
    assert first.row(identity(9)) == added
    assert len({*rows, added}) == 6
    first.close()
    second.close()


def test_one_worker_needs_no_file() -> None:
    table = SharedTable()
    row = table.row(identity(1))
    assert row == 1
    assert table.row(identity(2)) == 1 + table.stride
    assert table.row(identity(1)) == row
    assert not table.is_shared
    table.close()


def test_a_full_table_is_reported(tmp_path: Path) -> None:
    table = SharedTable(tmp_path, workers=1)
    table._known = table.values[0] = 1 << 16
    assert table.row(identity(1)) is None
    table.close()


def test_no_addition_is_lost_among_processes(tmp_path: Path) -> None:
    def work(worker: int) -> None:
        # Four processes on a busy machine may wait long for their turn; what happens after that is another test's.
        table = SharedTable(tmp_path, worker=worker, workers=4, lock_seconds=60)
        row = table.row(identity(1))
        assert row is not None
        for _ in range(5_000):
            table.lock()
            table.values[row + REQUESTS_TAT] += 1
            table.unlock()
            table.values[table.column(row, SPENT_MONEY)] += 1
        assert table.lock_timeouts == 0

    pids = [in_process(lambda worker=worker: work(worker)) for worker in range(4)]  # type: ignore[misc]
    assert [ended(pid) for pid in pids] == [0] * 4
    table = SharedTable(tmp_path, workers=4)
    row = table.row(identity(1))
    assert row is not None
    assert table.values[row + REQUESTS_TAT] == 20_000
    assert table.total(row, SPENT_MONEY) == 20_000
    table.close()


def test_the_lock_of_a_killed_process_is_free_and_its_successor_clears_its_columns(tmp_path: Path) -> None:
    def work() -> None:
        table = SharedTable(tmp_path, worker=1, workers=2)
        row = table.row(identity(1))
        assert row is not None
        table.values[table.column(row, IN_FLIGHT)] = 3
        table.values[table.column(row, SPENT_MONEY)] = 7
        table.values[table.column(row, RESERVED_MONEY)] = 5
        table.values[table.column(row, RESERVED_TOKENS)] = 9
        table.lock()
        (tmp_path / "locked").touch()
        time.sleep(60)

    pid = in_process(work)
    while not (tmp_path / "locked").exists():
        time.sleep(0.001)
    os.kill(pid, signal.SIGKILL)
    assert ended(pid) == -signal.SIGKILL
    table = SharedTable(tmp_path, worker=1, workers=2)
    row = table.row(identity(1))
    assert row is not None
    assert table.total(row, IN_FLIGHT) == 3
    table.clear_worker()
    assert table.total(row, IN_FLIGHT) == 0
    assert [table.total(row, column) for column in (RESERVED_MONEY, RESERVED_TOKENS)] == [0, 0]
    assert [table.total(row, column) for column in (SPENT_MONEY, SPENT_TOKENS)] == [12, 9]
    assert table.lock_timeouts == 0
    table.close()


def test_a_stopped_process_does_not_stop_the_others(tmp_path: Path) -> None:
    table, holder = SharedTable(tmp_path, workers=2), os.open(tmp_path / "limits", os.O_RDWR)
    fcntl.flock(holder, fcntl.LOCK_EX)
    began = time.monotonic()
    table.lock()
    assert 0.04 < time.monotonic() - began < 30
    assert table.lock_timeouts == 1
    table.unlock()
    os.close(holder)
    table.close()


def test_a_lock_that_comes_late_is_waited_for(tmp_path: Path) -> None:
    table, holder = SharedTable(tmp_path, workers=2), os.open(tmp_path / "limits", os.O_RDWR)
    fcntl.flock(holder, fcntl.LOCK_EX)

    def give_back() -> None:
        time.sleep(0.01)
        fcntl.flock(holder, fcntl.LOCK_UN)

    pid = in_process(give_back)
    table.lock()
    assert table.lock_timeouts == 0
    assert ended(pid) == 0
    os.close(holder)
    table.close()


def test_columns_lie_behind_the_words() -> None:
    table = SharedTable(worker=2, workers=4)
    assert table.column(1, IN_FLIGHT) == 1 + COLUMNS + 2
    assert table.column(1, SPENT_MONEY) == 1 + COLUMNS + 3 * 4 + 2
