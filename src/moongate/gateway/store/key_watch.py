"""Keys and teams that are changed while the gateway runs, noticed within a second."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final

from moongate.gateway.store.connect import open_database
from moongate.gateway.store.database import Database
from moongate.gateway.store.errors import StoreError
from moongate.gateway.store.keys import KeyStore
from moongate.gateway.store.snapshot import Snapshot, read_snapshot

LOOK_SECONDS: Final = 1.0  # between looks for changed keys
CLOSE_SECONDS: Final = 2.0  # for a look that is under way


class KeyWatch:
    """Looks for changes of keys and teams every second; `on_change` is called in its thread."""

    def __init__(
        self,
        url: str,
        today: Callable[[], int],
        on_change: Callable[[Snapshot], None],
        on_error: Callable[[StoreError], None],
        on_success: Callable[[], None] = lambda: None,
    ) -> None:
        """`on_success` is called after each look."""
        self._url = url
        self._today = today
        self._on_change = on_change
        self._on_error = on_error
        self._on_success = on_success
        self._stop = threading.Event()
        self._runner: threading.Thread | None = None
        self._database: Database | None = None
        self._revision = -1

    def first(self) -> Snapshot:
        """The keys as they are at the start. Raises StoreError."""
        database = open_database(self._url)
        try:
            snapshot = read_snapshot(database, self._today())
        finally:
            database.close()
        self._revision = snapshot.revision
        return snapshot

    def start(self) -> None:
        self._runner = threading.Thread(target=self._run, name="key-watch", daemon=True)
        self._runner.start()

    def close(self) -> None:
        self._stop.set()
        if self._runner is not None:
            self._runner.join(CLOSE_SECONDS)

    def _run(self) -> None:
        while not self._stop.wait(LOOK_SECONDS):
            try:
                self._look()
                self._on_success()
            except StoreError as error:
                self._on_error(error)
                self._disconnect()
        self._disconnect()

    def _look(self) -> None:
        if self._database is None:
            self._database = open_database(self._url)
        if KeyStore(self._database).revision() != self._revision:
            snapshot = read_snapshot(self._database, self._today())
            self._revision = snapshot.revision
            self._on_change(snapshot)

    def _disconnect(self) -> None:
        if self._database is not None:
            self._database.close()
            self._database = None
