"""Charts of a report as SVG inside the page. Colours are variables of the page, for light and dark. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Final

from moongate.payload import JsonObject

WIDTH: Final = 640
LABEL: Final = 110
FAULT_LABEL: Final = 190  # holds the longest name on a phone, where text is larger
ROW: Final = 46
WORTHS: Final = ("clean", "repaired", "damaged", "failed")


def interval_chart(rates: Sequence[tuple[str, JsonObject, JsonObject]]) -> str:
    """For each rate two lines: its interval and its value, raw above repaired."""
    height = ROW * len(rates) + 34
    parts = [_axis(height)]
    for at, (name, raw, repaired) in enumerate(rates):
        top = at * ROW + 8
        parts.append(f'<text x="0" y="{top + 24}" class="name">{escape(name)}</text>')
        parts.append(_interval(raw, top + 12, "raw"))
        parts.append(_interval(repaired, top + 28, "repaired"))
    return _svg(height, "rates with their 95 % intervals, raw and repaired", "".join(parts))


def fault_chart(faults: Mapping[str, tuple[int, int]]) -> str:
    """For each fault two bars: how often it came, how often it left."""
    most = max((max(counts) for counts in faults.values()), default=1) or 1
    parts = []
    for at, (name, counts) in enumerate(faults.items()):
        top = at * ROW + 4
        parts.append(f'<text x="0" y="{top + 22}" class="name">{escape(name.replace("_", " "))}</text>')
        for line, (count, kind) in enumerate(zip(counts, ("raw", "repaired"), strict=True)):
            width = count / most * (WIDTH - FAULT_LABEL - 60)
            y = top + line * 17
            parts.append(f'<rect x="{FAULT_LABEL}" y="{y}" width="{max(width, 1):.1f}" height="13" class="{kind}"/>')
            parts.append(f'<text x="{FAULT_LABEL + max(width, 1) + 6:.1f}" y="{y + 11}" class="value">{count}</text>')
    return _svg(ROW * len(faults) + 4, "faults, raw and repaired", "".join(parts))


def worth_chart(worths: Mapping[str, int]) -> str:
    """One bar: what the answers were worth to a client of the chain."""
    total = sum(worths.values()) or 1
    parts, x = [], 0.0
    for worth in WORTHS:
        count = worths.get(worth, 0)
        width = count / total * WIDTH
        if count:
            title = f"<title>{worth}: {count} of {total}</title>"
            parts.append(
                f'<rect x="{x:.1f}" y="0" width="{width:.1f}" height="26" class="worth-{worth}">{title}</rect>'
            )
        x += width
    return _svg(26, "what the answers were worth", "".join(parts))


def _axis(height: int) -> str:
    parts = []
    for tenth in range(0, 11, 2):
        x = _x(tenth / 10)
        anchor = "end" if tenth == 10 else "middle"
        parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{height - 22}" class="grid"/>')
        parts.append(f'<text x="{x:.1f}" y="{height - 6}" class="value" text-anchor="{anchor}">{tenth * 10} %</text>')
    return "".join(parts)


def _interval(rate: JsonObject, y: int, kind: str) -> str:
    if rate["value"] is None:
        return f'<text x="{LABEL + 6}" y="{y + 4}" class="value">not measured</text>'
    low, high = (_x(each) for each in rate["interval"])
    share = _x(rate["value"])
    title = f"<title>{kind}: {rate['value'] * 100:.1f} %, {rate['hits']} of {rate['of']}</title>"
    line = f'<line x1="{low:.1f}" x2="{high:.1f}" y1="{y}" y2="{y}" class="{kind}"/>'
    return f'<g>{title}{line}<circle cx="{share:.1f}" cy="{y}" r="5" class="{kind}"/></g>'


def _x(share: float) -> float:
    return LABEL + 6 + share * (WIDTH - LABEL - 14)


def _svg(height: int, label: str, inside: str) -> str:
    return f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(label)}">{inside}</svg>'
