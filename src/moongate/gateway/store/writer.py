"""Takes the journal of all workers into the database: one thread, in one process of the machine.

Every worker has this thread; the one that holds the lock on `writer.lock` works, the others wait for it to be free. If
its process dies, another one goes on, without loss (segments stay until they are in the database) and without doubles
(rows are idempotent). When the database fails, the journal keeps growing up to its limit, and the thread tries again.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from moongate.gateway.file_lock import lock_file
from moongate.gateway.store.connect import open_database
from moongate.gateway.store.database import Database
from moongate.gateway.store.errors import StoreError
from moongate.gateway.store.journal import recover_dead, segments
from moongate.gateway.store.node_number import keep_number
from moongate.gateway.store.record import UsageRow
from moongate.gateway.store.row_ids import first_row_of
from moongate.gateway.store.segment import SegmentReader, is_taken, written_until
from moongate.gateway.store.usage import UsageTable

BATCH_ROWS: Final = 1000  # SQLite takes them in one statement
IDLE_SECONDS: Final = 0.25  # between looks at the journal: each costs the event loop some time, too
ELECTION_SECONDS: Final = 0.5  # between tries to become the one that writes
RETRY_SECONDS: Final = 1.0  # after the database has failed
RECOVERY_LOOKS: Final = 8  # looks at the journal between looks for dead workers
CATCH_UP_SECONDS: Final = 0.02
CLOSE_SECONDS: Final = 5.0  # for the last rows, when the gateway goes down
RETENTION_LOOKS: Final = 14_400  # about an hour
NODE_LOOKS: Final = 240  # about a minute


class UsageWriter:
    """`start`, then `close` at the end. `on_error` is called in the thread."""

    def __init__(
        self,
        url: str,
        folder: Path,
        *,
        retention_days: int | None = None,
        today: Callable[[], int] = lambda: 0,
        on_error: Callable[[StoreError], None] = lambda _: None,
        on_success: Callable[[], None] = lambda: None,
        node: int | None = None,
    ) -> None:
        """`on_success` is called when it works again after an error. `node`: the number of this gateway, if others
        write into the same database."""
        self._url = url
        self._folder = folder
        self._node = node
        self._retention_days = retention_days
        self._today = today
        self._on_error = on_error
        self._on_success = on_success
        self._has_failed = False
        self._stop = threading.Event()
        self._runner: threading.Thread | None = None
        self._lock = -1
        self._leaving: int | None = None
        self._database: Database | None = None
        self._table: UsageTable | None = None
        self._readers: dict[Path, SegmentReader] = {}
        self._looks = 0
        self._dead: set[Path] = set()  # segments of dead workers
        self.must_reopen = False  # somebody else has found the database damaged
        self.written = 0  # rows

    def start(self) -> None:
        self._looks = 0  # without those of `catch_up`: some things are done at the first look
        self._runner = threading.Thread(target=self._run, name="usage-writer", daemon=True)
        self._runner.start()

    def catch_up(self, seconds: float) -> None:
        """Take what the last run left in the journal, now, in this thread; if another process writes, wait until it has
        taken that. Raises StoreError. Before `start`."""
        end = time.monotonic() + seconds
        waits_for: dict[Path, int] | None = None
        while not self._elected():
            if waits_for is None:
                waits_for = {path: written_until(path) for path in segments(self._folder)}
            if all(is_taken(path, position) for path, position in waits_for.items()) or time.monotonic() > end:
                return
            time.sleep(CATCH_UP_SECONDS)
        try:
            self._recover()
            while time.monotonic() < end and self.take():
                pass
        finally:
            self._give_up()

    def close(self, seconds: float = CLOSE_SECONDS, worker: int | None = None) -> None:
        """Take what is there, if this process can; what is not taken stays in the journal. `worker`: whose segments
        must be gone, all if None."""
        self._leaving = worker
        self._stop.set()
        if self._runner is not None:
            self._runner.join(seconds)
        else:
            self._give_up()

    def _run(self) -> None:
        try:
            while not self._elected():
                if self._stop.wait(ELECTION_SECONDS):
                    break
            while self._lock >= 0 and not self._stop.is_set():
                self._stop.wait(self._turn())
            self._finish()
        finally:
            self._give_up()

    def _finish(self) -> None:
        """Whoever goes last takes what is left. Another one may write now, and have looked before the last rows came:
        wait until it has taken them or has gone."""
        end = time.monotonic() + CLOSE_SECONDS
        while not self._elected():
            if time.monotonic() > end or not segments(self._folder, self._leaving):
                return
            time.sleep(CATCH_UP_SECONDS)
        self._looks = 0  # those that have gone before may have left segments of their predecessors
        if self._turn(1) == RETRY_SECONDS:  # the connection may have died while there was nothing to write
            self._turn(1)

    def _turn(self, enough: int = BATCH_ROWS) -> float:
        """One look at the journal; gives the seconds to wait. A batch with `enough` rows is followed by another."""
        try:
            if self.must_reopen:
                self.must_reopen = False
                self._disconnect()
            self._recover()
            while self.take() >= enough:
                pass
            self._retain()
            self._keep_node()
            if self._has_failed:
                self._connected()
                self._has_failed = False
                self._on_success()
        except StoreError as error:
            self._fail(error)
            self._disconnect()
            return RETRY_SECONDS
        except OSError as error:
            self._fail(StoreError(f"the journal {self._folder} cannot be read: {error.strerror}"))
            return RETRY_SECONDS
        return IDLE_SECONDS

    def _fail(self, error: StoreError) -> None:
        self._has_failed = True
        self._on_error(error)

    def take(self) -> int:
        """Take one batch; gives how many rows it had. Raises StoreError, and then it is still in the journal."""
        readers, rows = self._look()
        if rows:
            self._connected().add(rows)
            self.written += len(rows)
        for reader in readers:
            reader.taken()
        self._remove_done()
        return len(rows)

    def _look(self) -> tuple[list[SegmentReader], list[UsageRow]]:
        """A batch, and the readers that it came from. Readers keep their place only if it is taken."""
        paths = segments(self._folder)
        for path in paths:
            if path not in self._readers:
                self._readers[path] = SegmentReader(path)
        read: list[SegmentReader] = []
        rows: list[UsageRow] = []
        for path in paths:
            reader = self._readers[path]
            found = reader.read(BATCH_ROWS - len(rows)) if reader.is_journal else []
            if found:
                read.append(reader)
                rows += found
            if len(rows) >= BATCH_ROWS:
                break
        return read, rows

    def _remove_done(self) -> None:
        """Segments that their writer has closed, and those of a dead one of which nothing is left."""
        newest: dict[str, Path] = {}
        for path in sorted(self._readers):
            newest[path.name[:2]] = path
        for path, reader in list(self._readers.items()):
            orphaned = path != newest[path.name[:2]] or path in self._dead
            if reader.is_over or (orphaned and reader.is_empty()):
                reader.close()
                del self._readers[path]
                path.unlink(missing_ok=True)

    def _recover(self) -> None:
        if self._looks % RECOVERY_LOOKS == 0:
            self._dead = recover_dead(self._folder)
        self._looks += 1

    def _retain(self) -> None:
        if self._retention_days is not None and self._looks % RETENTION_LOOKS == 1:
            self._connected()
            assert self._database is not None
            self._database.drop_usage_before(first_row_of(self._today() - self._retention_days))

    def _keep_node(self) -> None:
        if self._node is not None and self._looks % NODE_LOOKS == 1:
            self._connected()
            assert self._database is not None
            keep_number(self._database, self._node)

    def _connected(self) -> UsageTable:
        if self._table is None:
            self._database = open_database(self._url)
            self._table = UsageTable(self._database)
        return self._table

    def _disconnect(self) -> None:
        """Close everything: new readers resume from what is known to be in the database."""
        if self._database is not None:
            self._database.close()
        self._database = self._table = None
        for reader in self._readers.values():
            reader.close()
        self._readers.clear()

    def _elected(self) -> bool:
        if self._lock >= 0:
            return True
        with contextlib.suppress(OSError):
            descriptor = os.open(self._folder / "writer.lock", os.O_RDWR | os.O_CREAT, 0o600)
            try:
                lock_file(descriptor)
            except OSError:
                os.close(descriptor)
                return False
            self._lock = descriptor
        return self._lock >= 0

    def _give_up(self) -> None:
        self._disconnect()
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1
