"""Charts as plain SVG: bars on a logarithmic scale (`bars`), curves (`curves`). No library."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

from bench.rows import ROWS
from bench.samples import Samples
from bench.table import number, times

WIDTH, LEFT, BAR = 760, 250, 18
COLOURS = {"nginx": "#7a7a7a", "moongate": "#2f6fde", "moongate-python": "#8fb2ef", "moongate-plain": "#5f90e6"}
PEER = "#c9873a"
PALETTE = ["#2f6fde", "#d2691e", "#2e8b57", "#8a2be2", "#b22222", "#7a7a7a"]


def svg(height: int, parts: Sequence[str]) -> str:
    box = f'viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="12"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {box}>'
    return "\n".join([head, f'<rect width="{WIDTH}" height="{height}" fill="white"/>', *parts, "</svg>\n"])


def text(x: float, y: float, words: str, anchor: str = "start", weight: str = "normal") -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" font-weight="{weight}">{escape(words)}</text>'


def bars(samples: Samples) -> str:
    """CPU per turn, per small request and per chunk, as multiples of nginx in the same run."""
    headline = [row.figure for row in ROWS["turn"] if row.who == "everybody"]
    parts, y = [], 24
    for title in (*headline, "CPU µs per request", "CPU µs per chunk"):
        drawn = [(name, title) for name in samples.names()]
        if title not in headline:
            more = [figure for figure in samples.values.get("moongate", {}) if figure.startswith(f"{title},")]
            drawn[2:2] = [("moongate", figure) for figure in more]
        known = [(name, figure) for name, figure in drawn if samples.ratio(name, figure)]
        if not known:
            continue
        parts.append(text(12, y, f"{title} (× nginx, logarithmic)", weight="bold"))
        y += 10
        for name, figure in known:
            parts += bar(samples, name, figure, y, name if figure == title else f"{name}: {figure[7:]}")
            y += BAR
        y += 26
    return svg(y, parts)


def bar(samples: Samples, name: str, figure: str, y: int, label: str) -> list[str]:
    ratio, value = samples.ratio(name, figure) or 0.0, samples.median(name, figure) or 0.0
    length = max(4.0, math.log10(max(ratio, 0.5) / 0.5) * 120)
    return [
        text(LEFT - 8, y + 13, label, "end"),
        f'<rect x="{LEFT}" y="{y}" width="{length:.0f}" height="{BAR - 4}" fill="{COLOURS.get(name, PEER)}"/>',
        text(LEFT + length + 6, y + 12, f"{times(ratio)}  ({number(value)} µs)"),
    ]


def curves(title: str, across: str, lines: Mapping[str, Sequence[tuple[float, float]]]) -> str:
    """One picture: y (µs a unit) over x (logarithmic)."""
    points = [point for line in lines.values() for point in line]
    if not points:
        return svg(40, [text(12, 24, f"{title}: nothing measured")])
    low, high = (math.log10(pick(x for x, _ in points)) for pick in (min, max))
    top = max(y for _, y in points) * 1.15
    parts = [text(12, 20, title, weight="bold"), text(WIDTH / 2, 300, across, "middle")]

    def place(x: float, y: float) -> tuple[float, float]:
        return 60 + (math.log10(x) - low) / (high - low or 1) * (WIDTH - 220), 270 - y / top * 230

    for step in range(5):
        _, y = place(10**low, top * step / 4)
        parts.append(f'<line x1="60" x2="{WIDTH - 160}" y1="{y:.0f}" y2="{y:.0f}" stroke="#ddd"/>')
        parts.append(text(54, y + 4, f"{top * step / 4:,.0f}", "end"))
    for x in sorted({x for x, _ in points}):
        parts.append(text(place(x, 0)[0], 285, f"{x:,.0f}", "middle"))
    for at, (name, line) in enumerate(lines.items()):
        colour = PALETTE[at % len(PALETTE)]
        drawn = " ".join("{:.0f},{:.0f}".format(*place(*point)) for point in line)
        parts.append(f'<polyline points="{drawn}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts.append(text(WIDTH - 150, 40 + 16 * at, f"— {name}").replace("<text", f'<text fill="{colour}"'))
    return svg(310, parts)
