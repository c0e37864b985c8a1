"""The ring of the last lines: what is kept, and what readers of other processes see."""

from __future__ import annotations

import mmap
from pathlib import Path

from moongate.gateway.record.request_ring import HEADER, LEAST_BYTES, RING_BYTES, RequestRing, ring_size

SIZE = mmap.PAGESIZE


def line(number: int, length: int = 20) -> bytes:
    return b"%d" % number + b"x" * (length - len(str(number)) - 1) + b"\n"


def test_lines_are_read_once_in_order() -> None:
    ring = RequestRing(size=SIZE)
    ring.write([line(1), line(2)])
    data, at = ring.read(0)
    assert data == line(1) + line(2)
    assert ring.read(at) == (b"", at)
    ring.write([line(3)])
    assert ring.read(at)[0] == line(3)


def test_the_oldest_lines_make_room_and_whole_lines_are_kept() -> None:
    ring = RequestRing(size=SIZE)
    for number in range(2000):
        ring.write([line(number, 20 + number % 37)])
        found = ring.read(0)[0].split(b"\n")[:-1]
        assert found[-1] + b"\n" == line(number, 20 + number % 37)
        numbers = [int(each.rstrip(b"x")) for each in found]
        assert numbers == list(range(numbers[0], number + 1))
    assert SIZE - HEADER - 100 < len(ring.read(0)[0]) <= SIZE - HEADER


def test_a_batch_larger_than_the_ring_leaves_its_end() -> None:
    ring = RequestRing(size=SIZE)
    ring.write([line(number, 100) for number in range(1000)])
    assert ring.read(0)[0].endswith(line(999, 100))
    ring.write([b"y" * SIZE + b"\n"])  # a line that no ring could hold
    assert ring.read(0)[0].endswith(line(999, 100))


def test_a_reader_that_fell_behind_goes_on_with_what_is_kept() -> None:
    ring = RequestRing(size=SIZE)
    ring.write([line(0)])
    at = ring.read(0)[1]
    for number in range(1, 1000):
        ring.write([line(number)])
    data, _ = ring.read(at)
    assert data.startswith(tuple(b"%d" % each for each in range(1, 1000)))
    assert data.endswith(line(999))


def test_another_process_reads_the_file_and_a_successor_goes_on_in_it(tmp_path: Path) -> None:
    ring = RequestRing(tmp_path, 3, SIZE)
    ring.write([line(1)])
    other = RequestRing(tmp_path, 3, SIZE)
    assert other.read(0)[0] == line(1)
    other.write([line(2)])
    assert ring.read(0)[0] == line(1) + line(2)
    assert ring.read(1 << 40)[0] == line(1) + line(2)  # of an earlier ring


def test_the_size_is_shared_by_the_workers() -> None:
    assert ring_size(1) == RING_BYTES
    assert ring_size(2) == RING_BYTES // 2
    assert ring_size(64) == LEAST_BYTES
