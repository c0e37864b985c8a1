"""Pictures of numbers: stacked bars over time, and a value with its interval, as SVG."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from moongate.gateway.ui.markup import Markup, tag

WIDTH: Final = 640
HEIGHT: Final = 150
LEFT: Final = 56
BOTTOM: Final = 20
COLOURS: Final = 8  # classes s0 … s7; the last one stands for all others


def stacked_bars(
    labels: Sequence[str], series: Sequence[tuple[str, Sequence[float]]], shown: Callable[[float], str], *, about: str
) -> Markup:
    """One bar for each label, in which the series are stacked, the first at the bottom. `shown` formats a number."""
    series = _at_most(series, COLOURS)
    sums = [sum(values[at] for _, values in series) for at in range(len(labels))]
    most = max([*sums, 0.0]) or 1.0
    room, step = HEIGHT - BOTTOM - 8, (WIDTH - LEFT) / max(len(labels), 1)
    rects = []
    for at, label in enumerate(labels):
        base = float(HEIGHT - BOTTOM)
        for number, (name, values) in enumerate(series):
            tall = room * values[at] / most
            if tall:
                base_top = round(base - tall, 1)
                title = tag("title", f"{label}: {name} {shown(values[at])}")
                rects.append(tag("rect", title, x=round(LEFT + at * step + step * 0.1, 1), y=base_top,
                                 width=round(step * 0.8, 1), height=round(max(tall, 0.5), 1),
                                 class_=f"s{number}"))  # fmt: skip
                base -= tall
    svg = tag("svg", tag("title", about), *_grid(most, room, shown), *rects, *_times(labels, step),
              viewBox=f"0 0 {WIDTH} {HEIGHT}", class_="chart", role="img", aria_label=about)  # fmt: skip
    totals = [(name, sum(values)) for name, values in series]
    return tag("figure", svg, _legend([f"{name} {shown(total)}" for name, total in totals]))


def _at_most(series: Sequence[tuple[str, Sequence[float]]], limit: int) -> list[tuple[str, Sequence[float]]]:
    """The first series; the others as one."""
    if len(series) <= limit:
        return list(series)
    rest = [values for _, values in series[limit - 1 :]]
    return [*series[: limit - 1], ("others", [sum(each) for each in zip(*rest, strict=True)])]


def _grid(most: float, room: int, shown: Callable[[float], str]) -> list[Markup]:
    found = []
    for part in (0.0, 0.5, 1.0):
        y = round(HEIGHT - BOTTOM - room * part, 1)
        found.append(tag("line", x1=LEFT, x2=WIDTH, y1=y, y2=y, class_="grid"))
        found.append(tag("text", shown(most * part), x=LEFT - 6, y=y + 4, text_anchor="end", class_="axis"))
    return found


def _times(labels: Sequence[str], step: float) -> list[Markup]:
    """At most six of the labels."""
    every = max(1, -(-len(labels) // 6))
    return [
        tag("text", label, x=round(LEFT + (at + 0.5) * step, 1), y=HEIGHT - 4, text_anchor="middle", class_="axis")
        for at, label in enumerate(labels)
        if at % every == every // 2
    ]


def _legend(names: Sequence[str]) -> Markup:
    items = [
        tag("li", tag("svg", tag("rect", width=10, height=10, rx=2, class_=f"s{number}"), viewBox="0 0 10 10",
                      aria_hidden="true"), name)
        for number, name in enumerate(names)
    ]  # fmt: skip
    return tag("ul", *items, class_="legend")


def interval(value: float, low: float, high: float) -> Markup:
    """A value between 0 and 1 with its interval."""
    words = f"{value:.3f}, 90 % interval {low:.3f} to {high:.3f}"
    return tag(
        "svg",
        tag("title", words),
        tag("rect", x=0, y=4, width=100, height=6, rx=3, class_="track"),
        tag("rect", x=round(low * 100, 1), y=4, width=round(max(1.0, (high - low) * 100), 1), height=6, class_="range"),
        tag("rect", x=round(max(0.0, value * 100 - 1), 1), y=1, width=2, height=12, class_="value"),
        viewBox="0 0 100 14",
        class_="meter",
        role="img",
        aria_label=words,
        preserveAspectRatio="none",
    )
