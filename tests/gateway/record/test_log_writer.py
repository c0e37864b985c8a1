"""The thread that writes the access log, with readers that are slow, gone or back, and a disk that is full."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable

import pytest

from moongate.gateway.record.log_writer import MAX_WAITING_BYTES, MAX_WAITING_LINES, LogWriter


def missing(lines: int) -> bytes:
    return b"(%d lost)\n" % lines


class Recorded:
    def __init__(self, descriptor: int) -> None:
        self.warnings: list[str] = []
        self.log = LogWriter(descriptor, missing, self.warnings.append)


def wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_lines_that_nobody_takes_are_lost_counted_and_mentioned() -> None:
    reading, writing = os.pipe()
    found = Recorded(writing)
    found.log.write(b"x" * 200_000 + b"\n", MAX_WAITING_LINES)  # more than the pipe holds
    found.log.write(b"too many\n", 3)
    assert found.log.lost == 3
    with os.fdopen(reading, "rb") as file:
        assert len(file.readline()) == 200_001
        wait_until(lambda: found.log.waiting == 0)
        found.log.write(b"again\n", 1)
        assert [file.readline(), file.readline()] == [b"(3 lost)\n", b"again\n"]
        found.log.write(b"once more\n", 1)
        assert file.readline() == b"once more\n"
    found.log.close(5)
    os.close(writing)
    assert found.warnings == []


def test_the_bytes_that_wait_are_limited() -> None:
    reading, writing = os.pipe()
    found = Recorded(writing)
    found.log.write(b"x" * (MAX_WAITING_BYTES + 1), 1)
    found.log.write(b"too much\n", 1)
    assert found.log.lost == 1
    os.close(reading)
    found.log.close(5)
    os.close(writing)


def test_lines_that_nobody_takes_until_the_end_are_counted_and_told() -> None:
    reading, writing = os.pipe()
    found = Recorded(writing)
    found.log.write(b"x" * 200_000 + b"\n", 2)  # more than the pipe holds
    found.log.write(b"never written\n", 3)
    found.log.close(0.1)
    assert found.log.lost == 5
    assert found.warnings == ["nobody reads the access log: its last lines are lost, up to 5 of them"]
    os.close(reading)
    wait_until(lambda: found.log.waiting == 0)
    os.close(writing)


@pytest.mark.parametrize("left", [b"", b"half a li"])
def test_a_full_disk_is_reported_once_and_mentioned_when_it_has_room_again(left: bytes) -> None:
    """Standard output is a file on a full disk, in which a part of a line may have had room."""
    reading, writing = os.pipe()
    full = os.open("/dev/full", os.O_WRONLY)
    descriptor = os.dup(writing)
    found = Recorded(descriptor)
    if left:
        found.log.write(left, 0)
        wait_until(lambda: found.log.waiting_bytes == 0)
    os.dup2(full, descriptor)
    found.log.write(b"first\n", 1)
    found.log.write(b"second\nthird\n", 2)
    wait_until(lambda: found.log.waiting == 0)
    assert found.log.lost == 3
    problem = os.strerror(errno.ENOSPC)
    assert found.warnings == [f"the access log cannot be written: {problem}; its lines are lost until it can"]
    os.dup2(writing, descriptor)
    found.log.write(b"fourth\n", 1)
    found.log.close(5)
    for each in (descriptor, writing, full):
        os.close(each)
    with os.fdopen(reading, "rb") as file:
        assert file.read() == (left + b"\n" if left else b"") + b"(3 lost)\nfourth\n"


def test_a_pipe_that_does_not_block_loses_nothing() -> None:
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    found = Recorded(writing)
    block = b"x" * 300_000 + b"\n"
    found.log.write(block, 1)
    time.sleep(0.05)
    with os.fdopen(reading, "rb") as file:
        assert file.readline() == block
        found.log.close(5)
    os.close(writing)
    assert found.log.lost == 0
