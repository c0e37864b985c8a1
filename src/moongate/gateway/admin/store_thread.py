"""The one thread that works on the database for the admin listener, so that the event loop never waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

from moongate.errors import NotFound, Overloaded
from moongate.gateway.store.connect import open_database
from moongate.gateway.store.database import Database
from moongate.gateway.store.errors import StoreError

MAX_WAITING: Final = 64  # requests for the thread
ANSWER_SECONDS: Final = 60.0  # of waiting and working; a statement of PostgreSQL may take 30
Result = TypeVar("Result")


class StoreThread:
    """`await run(work)`; `database()` inside of it. The connection is opened on first use, and again after an error."""

    def __init__(self, url: str | None) -> None:
        """None: the store is off."""
        self._url = url
        self._executor: ThreadPoolExecutor | None = None
        self._database: Database | None = None
        self._waiting = 0

    def database(self) -> Database:
        """In the thread. Raises StoreError."""
        if self._url is None:
            raise NotFound("The store is off: set 'store' in the configuration", code="store_off")
        if self._database is None:
            self._database = open_database(self._url)
        return self._database

    async def run(self, work: Callable[[], Result]) -> Result:
        """Raises Overloaded, and what `work` raises."""
        if self._waiting >= MAX_WAITING:
            raise Overloaded("Too many requests to the store at the same time", code="overloaded", retry_after=1)
        if self._executor is None:
            self._executor = ThreadPoolExecutor(1, "admin-store")
        self._waiting += 1
        future = asyncio.get_running_loop().run_in_executor(self._executor, self._guarded, work)
        # It counts until the thread has done it, not only until the wait below times out.
        future.add_done_callback(self._done)
        done, _ = await asyncio.wait({future}, timeout=ANSWER_SECONDS)
        if not done:
            raise Overloaded("The store took too long; what was asked for may still happen", code="store_slow")
        return future.result()

    def close(self) -> None:
        if self._executor is not None:
            self._executor.submit(self._disconnect)
            self._executor.shutdown(wait=False)

    def _guarded(self, work: Callable[[], Result]) -> Result:
        try:
            return work()
        except StoreError:
            self._disconnect()
            raise

    def _disconnect(self) -> None:
        if self._database is not None:
            self._database.close()
            self._database = None

    def _done(self, future: asyncio.Future[Result]) -> None:
        self._waiting -= 1
        if not future.cancelled():
            future.exception()  # nobody may be waiting for it any more
