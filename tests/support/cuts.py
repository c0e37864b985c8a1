"""The ways in which stream tests split a byte string."""

from __future__ import annotations

from collections.abc import Iterator


def every_cut(data: bytes) -> Iterator[list[bytes]]:
    """In one piece, byte by byte, and in two pieces at each position."""
    yield [data]
    yield pieces_of(data, 1)
    yield from ([data[:at], data[at:]] for at in range(1, len(data)))


def pieces_of(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]
