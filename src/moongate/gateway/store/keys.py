"""Keys and teams in the database. Every change is in the audit log and makes the revision grow, in one transaction."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from moongate.errors import BadRequest, NotFound
from moongate.gateway.limits.limit_set import LimitSet
from moongate.gateway.store.database import Database, Row, Value, place_marks
from moongate.gateway.store.entities import StoredKey, Team, digest_of, label_of, new_id, new_secret
from moongate.payload import JsonObject, dumps_text, loads

MAX_KEYS: Final = 100_000
_SHARED: Final = (
    "models",
    "rpm",
    "tpm",
    "concurrency",
    "budget",
    "token_budget",
    "reset",
    "disabled",
    "metadata",
    "created",
)
TEAM_COLUMNS: Final = ("id", "name", *_SHARED)
KEY_COLUMNS: Final = (
    *("id", "digest", "label", "name", "team", *_SHARED),
    *("expires", "last_used", "previous_digest", "previous_until"),
)
AUDIT_COLUMNS: Final = ("id", "time", "actor", "action", "subject", "detail")
_CHANGEABLE_KEY: Final = ("name", "team", "models", "limits", "disabled", "metadata", "expires")
_CHANGEABLE_TEAM: Final = ("name", "models", "limits", "disabled", "metadata")


class KeyStore:
    """`actor` in each change says who it was, for the audit log: "cli", "admin"."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    def revision(self) -> int:
        """Grows with every change."""
        return int(self._database.rows("SELECT number FROM revision")[0][0])

    def list_keys(self, *, team: str | None = None, limit: int = MAX_KEYS, after: str = "") -> list[StoredKey]:
        """In the order of their ids, from behind `after`."""
        where, values = "WHERE id > ?", [after]
        if team is not None:
            where, values = f"{where} AND team = ?", [after, team]
        sql = f"SELECT {', '.join(KEY_COLUMNS)} FROM client_key {where} ORDER BY id LIMIT {limit}"
        return [_key(row) for row in self._database.rows(sql, values)]

    def key(self, key_id: str) -> StoredKey:
        """Raises NotFound."""
        found = self._database.rows(f"SELECT {', '.join(KEY_COLUMNS)} FROM client_key WHERE id = ?", (key_id,))
        if not found:
            raise NotFound(f"there is no key {key_id[:100]!r}", code="no_such_key")
        return _key(found[0])

    def create_key(self, key: StoredKey, actor: str) -> tuple[StoredKey, str]:
        """A new key with the name, team, models, limits and so on of `key`; with its text, which is not shown again."""
        secret = new_secret()
        made = replace(
            key, id=new_id("key"), digest=digest_of(secret), label=label_of(secret), created=int(self._clock())
        )
        with self._changing():
            self._check_team(made.team)
            self._insert("client_key", KEY_COLUMNS, _row(made))
            self._changed(actor, "create", made.id, {"name": made.name, "label": made.label})
        return made, secret

    def change_key(self, key_id: str, change: Callable[[StoredKey], StoredKey], actor: str) -> StoredKey:
        """Name, team, models, limits, expiry, metadata and whether it is disabled become those of `change(key)`."""
        with self._changing():
            before = self.key(key_id)
            wanted = change(before)
            made = replace(before, **{name: getattr(wanted, name) for name in _CHANGEABLE_KEY})
            self._check_team(made.team)
            self._update("client_key", KEY_COLUMNS, _row(made))
            self._changed(actor, "change", key_id, _differences(before, made, _CHANGEABLE_KEY))
        return made

    def rotate_key(self, key_id: str, grace: int, actor: str) -> tuple[StoredKey, str]:
        """A new text for a key; the old one is good for `grace` more seconds."""
        secret = new_secret()
        with self._changing():
            before = self.key(key_id)
            made = replace(
                before,
                digest=digest_of(secret),
                label=label_of(secret),
                previous_digest=before.digest if grace else None,
                previous_until=int(self._clock()) + grace if grace else None,
            )
            self._update("client_key", KEY_COLUMNS, _row(made))
            self._changed(actor, "rotate", key_id, {"label": made.label, "grace": grace})
        return made, secret

    def delete_key(self, key_id: str, actor: str) -> None:
        """Its usage stays. Raises NotFound."""
        with self._changing():
            key = self.key(key_id)
            self._database.run("DELETE FROM client_key WHERE id = ?", (key_id,))
            self._changed(actor, "delete", key_id, {"name": key.name, "label": key.label})

    def teams(self, *, limit: int = MAX_KEYS, after: str = "") -> list[Team]:
        sql = f"SELECT {', '.join(TEAM_COLUMNS)} FROM team WHERE id > ? ORDER BY id LIMIT {limit}"
        return [_team(row) for row in self._database.rows(sql, (after,))]

    def team(self, team_id: str) -> Team:
        """Raises NotFound."""
        found = self._database.rows(f"SELECT {', '.join(TEAM_COLUMNS)} FROM team WHERE id = ?", (team_id,))
        if not found:
            raise NotFound(f"there is no team {team_id[:100]!r}", code="no_such_team")
        return _team(found[0])

    def create_team(self, team: Team, actor: str) -> Team:
        made = replace(team, id=new_id("team"), created=int(self._clock()))
        with self._changing():
            self._check_name(made)
            self._insert("team", TEAM_COLUMNS, _team_row(made))
            self._changed(actor, "create", made.id, {"name": made.name})
        return made

    def change_team(self, team_id: str, change: Callable[[Team], Team], actor: str) -> Team:
        with self._changing():
            before = self.team(team_id)
            wanted = change(before)
            made = replace(before, **{name: getattr(wanted, name) for name in _CHANGEABLE_TEAM})
            self._check_name(made)
            self._update("team", TEAM_COLUMNS, _team_row(made))
            self._changed(actor, "change", team_id, _differences(before, made, _CHANGEABLE_TEAM))
        return made

    def delete_team(self, team_id: str, actor: str) -> None:
        """Raises BadRequest if it has keys."""
        with self._changing():
            team = self.team(team_id)
            if self.list_keys(team=team_id, limit=1):
                raise BadRequest(
                    f"team {team.name!r} still has keys: delete or move them first", code="team_in_use", status=409
                )
            self._database.run("DELETE FROM team WHERE id = ?", (team_id,))
            self._changed(actor, "delete", team_id, {"name": team.name})

    def audit(self, *, limit: int = 100, before: int | None = None) -> list[JsonObject]:
        """Changes, the latest first."""
        where, values = ("WHERE id < ?", [before]) if before is not None else ("", [])
        sql = f"SELECT {', '.join(AUDIT_COLUMNS)} FROM audit {where} ORDER BY id DESC LIMIT {limit}"
        found = [dict(zip(AUDIT_COLUMNS, row, strict=True)) for row in self._database.rows(sql, values)]
        return [{**each, "detail": loads(each["detail"])} for each in found]

    @contextlib.contextmanager
    def _changing(self) -> Iterator[None]:
        """A transaction that begins when those of others who change keys or teams have ended, so it reads what they
        wrote."""
        with self._database.transaction():
            self._database.run("UPDATE revision SET number = number + 1")  # where PostgreSQL lets the second one wait
            yield

    def _changed(self, actor: str, action: str, subject: str, detail: JsonObject) -> None:
        self._database.run(
            "INSERT INTO audit (time, actor, action, subject, detail) VALUES (?, ?, ?, ?, ?)",
            (int(self._clock()), actor, action, subject, dumps_text(detail)),
        )

    def _insert(self, table: str, columns: tuple[str, ...], row: tuple[Value, ...]) -> None:
        self._database.run(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({place_marks(len(columns))})", row)

    def _update(self, table: str, columns: tuple[str, ...], row: tuple[Value, ...]) -> None:
        changes = ", ".join(f"{name} = ?" for name in columns[1:])
        self._database.run(f"UPDATE {table} SET {changes} WHERE id = ?", (*row[1:], row[0]))

    def _check_team(self, team_id: str | None) -> None:
        if team_id is not None:
            try:
                self.team(team_id)
            except NotFound as error:
                raise BadRequest(error.message, path="team", code=error.code, status=409) from None

    def _check_name(self, team: Team) -> None:
        if self._database.rows("SELECT 1 FROM team WHERE name = ? AND id <> ?", (team.name, team.id)):
            raise BadRequest(
                f"there is a team named {team.name!r} already: choose another name",
                path="name",
                code="name_in_use",
                status=409,
            )


def _shared_row(each: StoredKey | Team) -> tuple[Value, ...]:
    limits = each.limits
    return (
        dumps_text(list(each.models)),
        *(limits.rpm, limits.tpm, limits.concurrency, limits.budget, limits.token_budget, limits.reset),
        *(int(each.disabled), dumps_text(each.metadata), each.created),
    )


def _row(key: StoredKey) -> tuple[Value, ...]:
    head = (key.id, key.digest, key.label, key.name, key.team)
    return (*head, *_shared_row(key), key.expires, key.last_used, key.previous_digest, key.previous_until)


def _team_row(team: Team) -> tuple[Value, ...]:
    return (team.id, team.name, *_shared_row(team))


def _key(row: Row) -> StoredKey:
    models, limits, disabled, metadata, created = _shared(row[5:15])
    key_id, digest, label, name, team = row[:5]
    return StoredKey(key_id, digest, label, name, team, models, limits, disabled, metadata, created, *row[15:])


def _team(row: Row) -> Team:
    return Team(row[0], row[1], *_shared(row[2:12]))


def _shared(row: Row) -> tuple[tuple[str, ...], LimitSet, bool, JsonObject, int]:
    models, rpm, tpm, concurrency, budget, token_budget, reset, disabled, metadata, created = row
    limits = LimitSet(rpm, tpm, concurrency, budget, token_budget, reset)
    return tuple(loads(models)), limits, bool(disabled), loads(metadata), created


def _differences(before: object, after: object, names: tuple[str, ...]) -> JsonObject:
    """What was changed, as `{"name": [old, new]}`."""
    pairs = {name: (getattr(before, name), getattr(after, name)) for name in names}
    return {name: [_plain(old), _plain(new)] for name, (old, new) in pairs.items() if old != new}


def _plain(value: object) -> object:
    if isinstance(value, LimitSet):
        return {name: getattr(value, name) for name in LimitSet.__dataclass_fields__}
    return list(value) if isinstance(value, tuple) else value
