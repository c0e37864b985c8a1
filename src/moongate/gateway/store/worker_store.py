"""The store as one worker sees it: stored keys for authentication, accounting for requests, and the threads behind."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Final

from moongate.errors import Overloaded
from moongate.gateway.config.store_settings import Store
from moongate.gateway.http.auth import Client
from moongate.gateway.limits.account import Account
from moongate.gateway.limits.limit_set import LimitSet
from moongate.gateway.limits.limiter import Limiter
from moongate.gateway.store.accounting import Accounting
from moongate.gateway.store.connect import is_server, open_database
from moongate.gateway.store.entities import StoredKey
from moongate.gateway.store.errors import (
    StoreBusy,
    StoreCorrupt,
    StoreDenied,
    StoreError,
    StoreFull,
    StoreUnreachable,
)
from moongate.gateway.store.journal import Journal
from moongate.gateway.store.key_watch import KeyWatch
from moongate.gateway.store.node_number import node_number
from moongate.gateway.store.snapshot import Snapshot, Spent, read_snapshot, spent_by
from moongate.gateway.store.writer import UsageWriter

LEASE_MARGIN: Final = 60.0  # seconds that a reservation may be older than the longest answer
START_SECONDS: Final = 10.0  # for what the last run left in the journal
DATABASE: Final = "moongate.db"
OFF: Final = "off"


def store_place(settings: Store, home: Path) -> tuple[str, Path] | None:
    """The place of the database and the folder of its journal; None if the store is off."""
    if settings.place == OFF:
        return None
    place = settings.place or str(home / DATABASE)
    if is_server(place):
        return place, home / "journal"
    path = Path(place).expanduser()
    return str(path), path.with_name(path.name + ".journal")


class WorkerStore:
    """Everything here belongs to the event loop, except what the threads hand over through `_changes`."""

    def __init__(
        self,
        place: tuple[str, Path],
        settings: Store,
        limiter: Limiter,
        *,
        worker: int = 0,
        slots: int = 1000,
        longest: float = 3600.0,  # seconds that an answer may take: a reservation's lease is a little longer
        warn: Callable[[str], None] = lambda _: None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Opens it, takes in what the last run left and reads the keys; if the database is away, later.
        Raises StoreError."""
        self._url, folder = place
        self._limiter = limiter
        self._clock = clock
        self._lease = longest + LEASE_MARGIN
        self._warn = warn
        self._faults: dict[str, str] = {}  # what each thread has reported and still has
        self._changes: deque[Snapshot] = deque(maxlen=1)  # the latest counts
        self._snapshot = Snapshot()
        journal = _journal(place, worker, slots, settings.journal)
        self.accounting = Accounting(journal, strict=settings.strict)
        self._writer = self._new_writer(folder, settings, journal.node)
        callbacks = partial(self._failed, "keys"), partial(self._works, "keys")
        self._watch = KeyWatch(self._url, limiter.today, self._changes.append, *callbacks)
        try:
            self._writer.catch_up(START_SECONDS)
            self._snapshot = self._watch.first()
        except (StoreBusy, StoreFull, StoreUnreachable) as error:
            self._failed("keys", error)  # the threads try again every second
        except StoreError:
            journal.close()
            raise

    def _new_writer(self, folder: Path, settings: Store, node: int) -> UsageWriter:
        return UsageWriter(
            *(self._url, folder),
            retention_days=settings.retention or None,
            today=self._limiter.today,
            on_error=partial(self._failed, "usage"),
            on_success=partial(self._works, "usage"),
            node=node if is_server(self._url) else None,
        )

    def start(self) -> None:
        self._writer.start()
        self._watch.start()

    def close(self) -> None:
        """After the last request. Rows that the database does not take in time stay in the journal."""
        self.accounting.journal.close()
        self._watch.close()
        self._writer.close(worker=self.accounting.journal.number)

    def expire_reservations(self) -> int:
        """Settle reservations whose lease is over; gives how many. To be called now and then."""
        return self.accounting.expire(self._clock() - self._lease)

    @property
    def revision(self) -> int:
        """Changes with the keys."""
        if self._changes:
            self._apply_changes()
        return self._snapshot.revision

    def find(self, digest: bytes) -> Client | None:
        """The client with a stored key, if it is valid now."""
        if self._changes:
            self._apply_changes()
        if self._snapshot.revision < 0:
            raise Overloaded("The store with the client keys cannot be reached now", code="store_away", retry_after=2)
        key, now = self._snapshot.keys.get(digest), self._clock()
        if key is None or not key.is_valid(digest, now):
            return None
        team = self._snapshot.teams.get(key.team) if key.team is not None else None
        if team is not None and team.disabled:
            return None
        accounts = [self._account(key.identity, key.limits, "key")]
        if team is not None:
            accounts.append(self._account(team.identity, team.limits, "team"))
        allowed = tuple(models for models in (key.models, team.models if team is not None else ()) if models)
        return Client(
            key.name or key.label,
            digest,
            tuple(accounts),
            key_id=key.id,
            team_id=key.team or "",
            allowed=allowed,
            expires=_end_of(key, digest),
            inspected=key.metadata.get("inspect") is True,
        )

    def read_spent(self, identity: bytes) -> Spent | None:
        """What a key or team has spent in the window of its budget, as the database says now; None: nobody has this
        identity. In any thread. Raises StoreError."""
        snapshot = self._snapshot
        owners = (("key", snapshot.keys.values()), ("team", snapshot.teams.values()))
        for dimension, owned in owners:
            found = next((each for each in owned if each.identity == identity), None)
            if found is not None:
                database = open_database(self._url)
                try:
                    return spent_by(database, dimension, found.id, found.limits, self._limiter.today())
                finally:
                    database.close()
        return None

    def read_all_spent(self) -> Mapping[bytes, Spent]:
        """The same of all keys and teams that have a budget, by their identity."""
        database = open_database(self._url)
        try:
            return read_snapshot(database, self._limiter.today()).spent
        finally:
            database.close()

    def _account(self, identity: bytes, limits: LimitSet, owner: str) -> Account:
        account = self._limiter.account(identity, limits, owner)
        spent = self._snapshot.spent.get(identity)
        if spent is not None and account.must_load():
            account.load(spent.window_start, spent.money, spent.tokens)
        return account

    def _apply_changes(self) -> None:
        while self._changes:
            self._snapshot = self._changes.popleft()

    def _failed(self, thread: str, error: StoreError) -> None:
        """In a thread. The same words once, until it works again: the thread tries again every second."""
        is_new = str(error) not in self._faults.values()
        self._faults[thread] = str(error)
        if isinstance(error, StoreCorrupt):  # a connection that was open before may go on as if nothing were
            self._writer.must_reopen = True
        if is_new:
            self._warn(f"{error}; usage waits in the journal")

    def _works(self, thread: str) -> None:
        if self._faults.pop(thread, "") and not self._faults:
            self._warn("the store can be used again")


def _journal(place: tuple[str, Path], worker: int, slots: int, limit: int) -> Journal:
    """Raises StoreError."""
    url, folder = place
    try:
        node = node_number(url, folder)
    except OSError as error:
        raise StoreDenied(f"the journal {folder} cannot be written: {error.strerror}") from None
    return Journal(folder, worker=worker, slots=slots, limit=limit, node=node)


def _end_of(key: StoredKey, digest: bytes) -> int | None:
    """When the key with this digest stops being valid."""
    ends = [key.expires, key.previous_until if digest == key.previous_digest else None]
    return min((end for end in ends if end is not None), default=None)
