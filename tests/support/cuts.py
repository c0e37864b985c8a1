"""Every way to cut a byte string that a stream test should try."""

from __future__ import annotations

from collections.abc import Iterator


def every_cut(data: bytes) -> Iterator[list[bytes]]:
    """Whole, byte by byte, and in two at each place."""
    yield [data]
    yield pieces_of(data, 1)
    yield from ([data[:at], data[at:]] for at in range(1, len(data)))


def pieces_of(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]
