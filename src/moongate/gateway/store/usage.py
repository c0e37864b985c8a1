"""Usage rows into the database: each once, with the sums of its day in the same transaction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from moongate.gateway.store.database import Database, Row, in_chunks, place_marks
from moongate.gateway.store.record import LABEL_FIELDS, UNKNOWN, UsageRow, label_of, names_in
from moongate.gateway.store.row_ids import day_of_row, time_of

SUMS: Final = (
    *("requests", "failed", "repairs", "input", "cache_read", "cache_write", "output", "reasoning"),
    *("cost", "unpriced", "estimated"),
)
MAX_LABELS: Final = 10_000  # that are remembered with their numbers
LAST_USED_SECONDS: Final = 60  # how old "last used" may be, so that a busy key is not written with every batch
_CHUNK: Final = 500


_UPSERT: Final = (
    f"INSERT INTO daily (day, label, {', '.join(SUMS)}) VALUES ({place_marks(2 + len(SUMS))}) "
    f"ON CONFLICT (day, label) DO UPDATE SET {', '.join(f'{name} = daily.{name} + excluded.{name}' for name in SUMS)}"
)


_INSERT_LABEL: Final = (
    f"INSERT INTO label ({', '.join(LABEL_FIELDS)}) VALUES ({place_marks(len(LABEL_FIELDS))}) ON CONFLICT DO NOTHING"
)
_SELECT: Final = (
    f"SELECT usage.id, {', '.join(LABEL_FIELDS)}, request, status, attempts, repairs, input, cache_read, cache_write, "
    "output, reasoning, COALESCE(cost, -1), estimated, COALESCE(first_byte, -1), duration "
    "FROM usage JOIN label ON label.id = usage.label"
)


class _SomeAreThere(Exception):
    """Not all rows of a batch are new."""


class UsageTable:
    """`add(rows)` through one connection."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._labels: dict[bytes, int] = {}
        self._keys: dict[bytes, str] = {}
        self._last_used: dict[str, int] = {}

    def add(self, rows: Sequence[UsageRow]) -> int:
        """Add those that are not there yet; gives how many that are. An exact row takes the place of an estimated one
        with the same id, never the other way round. Raises StoreError, and then nothing was added."""
        rows = _once(rows)
        if not rows:
            return 0
        try:
            with self._database.transaction():
                return self._insert(rows, all_new=True)
        except _SomeAreThere:
            self._labels.clear()  # those that were new went with the transaction
        try:
            with self._database.transaction():
                return self._insert(self._without_known(rows), all_new=False)
        except BaseException:
            self._labels.clear()
            raise

    def _insert(self, rows: Sequence[UsageRow], *, all_new: bool) -> int:
        labels = self._numbered({row[1] for row in rows})
        values: list[Row] = [(labels[row[1]], row[0]) + row[2:] for row in rows]  # noqa: RUF005 (slower)
        inserted = self._database.insert_usage(values)
        if all_new and inserted != len(rows):
            raise _SomeAreThere
        self._sum(rows, labels)
        self._touch(rows)
        return len(rows)

    def _without_known(self, rows: Sequence[UsageRow]) -> list[UsageRow]:
        """The rows that are to be inserted. Estimated rows in whose place exact ones come are taken out."""
        stored = {row.id: row for row in self.find([row.id for row in rows])}
        replaced = [stored[row.id] for row in rows if row.id in stored and stored[row.id].estimated > row.estimated]
        for row in replaced:
            self._database.run("DELETE FROM usage WHERE id = ?", (row.id,))
            del stored[row.id]
        self._sum(replaced, self._numbered({row.label for row in replaced}), sign=-1)
        return [row for row in rows if row.id not in stored]

    def find(self, ids: Sequence[int]) -> list[UsageRow]:
        """The rows with these ids."""
        found: list[UsageRow] = []
        for chunk in in_chunks(ids, _CHUNK):
            rows = self._database.rows(f"{_SELECT} WHERE usage.id IN ({place_marks(len(chunk))})", chunk)
            found += [UsageRow(row[0], label_of(*row[1:7]), *row[7:]) for row in rows]
        return found

    def _sum(self, rows: Sequence[UsageRow], labels: dict[bytes, int], sign: int = 1) -> None:
        """Add the rows to the sums of their days. By columns: this runs for every request."""
        groups: dict[tuple[int, bytes], list[UsageRow]] = {}
        for day, those in _by_day(rows):
            for row in those:
                place = (day, row[1])
                if place in groups:
                    groups[place].append(row)
                else:
                    groups[place] = [row]
        sums = [(day, labels[label], *(sign * each for each in _sums(group))) for (day, label), group in groups.items()]
        # In order: two nodes that write at the same time must not wait for each other.
        self._database.run_many(_UPSERT, sorted(sums))

    def _numbered(self, wanted: set[bytes]) -> dict[bytes, int]:
        """The number of each label, given to it if it is new."""
        known = self._labels
        new = [label for label in wanted if label not in known]
        if new:
            if len(known) + len(new) > MAX_LABELS:
                known.clear()
                new = list(wanted)
            same = " AND ".join(f"{name} = ?" for name in LABEL_FIELDS)
            for label in sorted(new):
                names = names_in(label)
                self._database.run(_INSERT_LABEL, names)
                known[label] = int(self._database.rows(f"SELECT id FROM label WHERE {same}", names)[0][0])
        return known

    def _touch(self, rows: Sequence[UsageRow]) -> None:
        """When keys were last used."""
        # Rows come in the order of time, more or less: the last one of a label counts.
        for label, row_id in {row[1]: row[0] for row in rows}.items():
            key, now = self._key_in(label), int(time_of(row_id))
            if now - self._last_used.get(key, 0) >= LAST_USED_SECONDS:
                if len(self._last_used) >= MAX_LABELS:
                    self._last_used.clear()
                self._last_used[key] = now
                self._database.run("UPDATE client_key SET last_used = ? WHERE id = ?", (now, key))

    def _key_in(self, label: bytes) -> str:
        found = self._keys.get(label)
        if found is None:
            if len(self._keys) >= MAX_LABELS:
                self._keys.clear()
            found = self._keys[label] = names_in(label)[0]
        return found


def _once(rows: Sequence[UsageRow]) -> Sequence[UsageRow]:
    """Each id once, an exact row before an estimated one."""
    if len({row[0] for row in rows}) == len(rows):  # as nearly always
        return rows
    found: dict[int, UsageRow] = {}
    for row in rows:
        known = found.setdefault(row[0], row)
        if known is not row and known.estimated > row.estimated:
            found[row[0]] = row
    return list(found.values())


def _by_day(rows: Sequence[UsageRow]) -> list[tuple[int, Sequence[UsageRow]]]:
    """The rows of each day. Nearly always there is one."""
    ids = [row[0] for row in rows]
    if not ids:
        return []
    first, last = day_of_row(min(ids)), day_of_row(max(ids))
    if first == last:
        return [(first, rows)]
    return [(day, [row for row in rows if day_of_row(row[0]) == day]) for day in sorted({day_of_row(n) for n in ids})]


def _sums(rows: Sequence[UsageRow]) -> tuple[int, ...]:
    """Of one or more rows, in the order of `SUMS`."""
    _, _, _, status, _, repairs, read, cached, stored, written, reasoning, cost, estimated, _, _ = zip(
        *rows, strict=True
    )
    unpriced = cost.count(UNKNOWN)
    failed = len(rows) - status.count(200)
    if failed:
        failed = sum(each >= 400 for each in status)
    return (
        *(len(rows), failed, sum(repairs), sum(read), sum(cached), sum(stored), sum(written), sum(reasoning)),
        *(sum(cost) + unpriced, unpriced, sum(estimated)),
    )
