"""Slots of requests in flight, on disk."""

from __future__ import annotations

from pathlib import Path

from tests.gateway.store.rows import usage_row

from moongate.gateway.store.record import SIZE, UsageRow
from moongate.gateway.store.reservations import SLOT_BYTES, ReservationSlots


def take(slots: ReservationSlots, row: UsageRow) -> int:
    return slots.take(row.id, row.label, row.request.encode(), row[3:])


def test_slots_are_taken_and_given_back(tmp_path: Path) -> None:
    slots = ReservationSlots(tmp_path / "00.open", 3)
    taken = [take(slots, usage_row(n)) for n in range(3)]
    assert sorted(taken) == [0, 1, 2]
    assert take(slots, usage_row(9)) == -1
    slots.clear(-1)
    slots.clear(taken[1])
    assert take(slots, usage_row(9)) == taken[1]
    slots.close()


def test_what_is_too_long_has_no_slot(tmp_path: Path) -> None:
    slots = ReservationSlots(tmp_path / "00.open", 3)
    assert take(slots, usage_row(1, label=b"x" * (SLOT_BYTES - SIZE), request="y")) == -1
    assert take(slots, usage_row(1, label=b"x" * (SLOT_BYTES - SIZE), request="")) >= 0


def test_what_a_dead_worker_had_open_is_found(tmp_path: Path) -> None:
    path = tmp_path / "00.open"
    slots = ReservationSlots(path, 5)
    rows = [usage_row(n) for n in range(4)]
    kept = [take(slots, row) for row in rows]
    slots.clear(kept[2])
    slots.close()
    found = ReservationSlots(path, 2)  # a smaller number does not lose what is there
    assert sorted(found.left) == [rows[0], rows[1], rows[3]]
    assert take(found, usage_row(9)) not in {kept[0], kept[1], kept[3]}
    found.forget_left()
    found.close()
    assert ReservationSlots(path, 1).left == [usage_row(9)]


def test_a_slot_that_was_never_finished_is_empty(tmp_path: Path) -> None:
    path = tmp_path / "00.open"
    slots = ReservationSlots(path, 1)
    take(slots, usage_row(1))
    slots.close()
    data = bytearray(path.read_bytes())
    data[SIZE - 1] ^= 1
    path.write_bytes(data)
    assert ReservationSlots(path, 1).left == []
