"""All keys and teams as they are now, with what their budgets have spent: what a worker needs to know of the store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from moongate.gateway.limits.limit_set import LimitSet
from moongate.gateway.limits.periods import Window, window_of
from moongate.gateway.store.database import Database
from moongate.gateway.store.entities import StoredKey, Team
from moongate.gateway.store.keys import KeyStore
from moongate.gateway.store.usage_report import spent, spent_by_all


@dataclass(frozen=True, slots=True)
class Spent:
    """What was spent in the window that begins on a day."""

    window_start: int
    money: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Snapshot:
    """`spent` is by the identity of a key or team that has a budget."""

    revision: int = -1
    keys: Mapping[bytes, StoredKey] = field(default_factory=dict)  # by digest, also by the one before a rotation
    teams: Mapping[str, Team] = field(default_factory=dict)
    spent: Mapping[bytes, Spent] = field(default_factory=dict)


def read_snapshot(database: Database, day: int) -> Snapshot:
    """All of it as it was at one time: never a key without its team. Raises StoreError."""
    store = KeyStore(database)
    by_digest: dict[bytes, StoredKey] = {}
    with database.snapshot():
        revision = store.revision()
        teams = {team.id: team for team in store.teams()}
        keys = store.list_keys()
        found = _spent_by_all(database, "key", keys, day) | _spent_by_all(database, "team", teams.values(), day)
    for key in keys:
        if key.previous_digest is not None:
            by_digest[key.previous_digest] = key
        by_digest[key.digest] = key
    return Snapshot(revision, by_digest, teams, found)


def _spent_by_all(
    database: Database, dimension: str, owners: Iterable[StoredKey | Team], day: int
) -> dict[bytes, Spent]:
    """What each that has a budget has spent in the window of it, by identity."""
    in_window: dict[Window, dict[str, tuple[int, int]]] = {}
    found: dict[bytes, Spent] = {}
    for owner in owners:
        if owner.limits.has_budget:
            window = window_of(owner.limits.reset, day)
            if window not in in_window:
                in_window[window] = spent_by_all(database, dimension, window)
            found[owner.identity] = Spent(window.start, *in_window[window].get(owner.id, (0, 0)))
    return found


def spent_by(database: Database, dimension: str, name: str, limits: LimitSet, day: int) -> Spent:
    """What a key or team has spent in the window of its budget. Raises StoreError."""
    window = window_of(limits.reset, day)
    return Spent(window.start, *spent(database, dimension, name, window))
