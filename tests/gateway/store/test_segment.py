"""Segments of the journal: what was appended is read, and nothing else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.gateway.store.rows import usage_row

from moongate.gateway.store.record import SIZE, UsageRow
from moongate.gateway.store.segment import START, SegmentReader, SegmentWriter


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "00-00000001.journal"


def append(writer: SegmentWriter, row: UsageRow) -> bool:
    return writer.append(row.id, row.label, row.request.encode(), row[3:])


def test_records_are_read_while_others_are_written(path: Path) -> None:
    writer, rows = SegmentWriter(path), [usage_row(n, request="r" * n) for n in range(3)]
    assert append(writer, rows[0])
    reader = SegmentReader(path)
    assert reader.read(10) == rows[:1]
    assert reader.read(10) == []
    assert append(writer, rows[1])
    assert append(writer, rows[2])
    assert not reader.is_empty()
    assert reader.read(1) == rows[1:2]
    assert reader.read(10) == rows[2:]
    assert reader.is_empty()
    assert not reader.is_over
    writer.close()
    assert reader.read(10) == []
    assert reader.is_over
    reader.close()


def test_what_was_taken_is_not_read_again(path: Path) -> None:
    writer, first = SegmentWriter(path), SegmentReader(path)
    append(writer, usage_row(1))
    append(writer, usage_row(2))
    first.read(1)
    first.taken()
    first.read(1)  # read, but not taken
    assert SegmentReader(path).read(9) == [usage_row(2)]


def test_a_full_segment_takes_no_more(path: Path) -> None:
    writer, count, size = SegmentWriter(path, size=4096), 0, SIZE + len(usage_row(1).label) + 5
    while append(writer, usage_row(count + 1, request="12345")):
        count += 1
    assert count == (4096 - START - 8) // size
    writer.close()
    reader = SegmentReader(path)
    assert len(reader.read(1000)) == count
    assert reader.is_over


@given(cut=st.integers(START, START + 600), noise=st.binary(min_size=1, max_size=20))
def test_damage_never_makes_a_record_up(cut: int, noise: bytes) -> None:
    path = Path(f"/tmp/moongate-segment-{os.getpid()}")
    writer = SegmentWriter(path)
    rows = [usage_row(n) for n in range(1, 4)]
    for row in rows:
        append(writer, row)
    with path.open("r+b") as file:
        file.seek(cut)
        file.write(noise)
    reader = SegmentReader(path)
    found = reader.read(10)
    assert [row.id for row in found] == [row.id for row in rows[: len(found)]]
    reader.close()
    path.unlink()


def test_a_file_of_another_kind_is_no_journal(path: Path) -> None:
    path.write_bytes(b"short")
    assert not SegmentReader(path).is_journal
    path.write_bytes(b"moonjrn1" + b"\xff" * 100)
    assert SegmentReader(path).position == START


def test_no_room_on_the_disk_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"File too large|No space"):
        SegmentWriter(tmp_path / "big.journal", size=1 << 60)
    assert list(tmp_path.iterdir()) == []
