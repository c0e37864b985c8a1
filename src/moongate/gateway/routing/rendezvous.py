"""Rendezvous hashing: each session has its own order of the targets, the same in every worker and after a restart.

When a target goes away only its sessions move; when it comes back they return. A target with twice the weight gets
twice the sessions.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from math import log
from typing import Final

_SCALE: Final = 2.0**64


def uniform(session: int, name: bytes) -> float:
    """A number between 0 and 1, neither included, for this session (64 bits) and target (at most 64 bytes)."""
    digest = blake2b(session.to_bytes(8, "big"), digest_size=8, key=name).digest()
    return (int.from_bytes(digest, "big") + 0.5) / _SCALE


def hash_key(name: str) -> bytes:
    """A target's name as `uniform` takes it, whatever its length."""
    return blake2b(name.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def scores(uniforms: Sequence[float], weights: Sequence[float]) -> list[float]:
    """The score of each target; the highest one is chosen, each with a probability in proportion to its weight (> 0).

    `uniforms` are numbers between 0 and 1, of `uniform` or of a random generator.
    """
    # Near 1 a 64-bit fraction rounds to 1.0 itself, whose logarithm is zero.
    return [
        weight / -log(each) if each < 1.0 else weight * _SCALE for each, weight in zip(uniforms, weights, strict=True)
    ]
