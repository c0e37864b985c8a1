"""A straight line through points: whether a cost grows as its input does, and by how much."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Line:
    """y = base + slope · x, and how far the worst point lies from it, as a share of what the line says."""

    base: float
    slope: float
    off: float


def fitted(points: Sequence[tuple[float, float]]) -> Line | None:
    """Least squares, weighted by 1/y: small turns count as much as large ones. None: fewer than three points."""
    if len(points) < 3:
        return None
    # Dividing y = base + slope · x by y weighs relative errors; minimised over (1/y, x/y) by two normal equations.
    rows = [(1 / y, x / y) for x, y in points]
    aa, bb = sum(a * a for a, _ in rows), sum(b * b for _, b in rows)
    ab, a1, b1 = sum(a * b for a, b in rows), sum(a for a, _ in rows), sum(b for _, b in rows)
    under = aa * bb - ab * ab
    if not under:
        return None
    base, slope = (a1 * bb - b1 * ab) / under, (b1 * aa - a1 * ab) / under
    return Line(base, slope, max(abs(y / (base + slope * x) - 1) for x, y in points))
