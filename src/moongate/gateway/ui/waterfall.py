"""The timings of a request as a picture: one bar for each attempt and one for the client, over the same time."""

from __future__ import annotations

from typing import Final

from moongate.gateway.ui.layout import milliseconds
from moongate.gateway.ui.markup import Markup, tag
from moongate.payload import JsonObject

WIDTH: Final = 1000
LABEL: Final = 300
WORDS: Final = 150  # room for what stands behind a bar
ROW: Final = 30
MARKS: Final = 5


def waterfall(capture: JsonObject) -> Markup:
    """Bars from sending to the head of the answer (waiting), and on to its end (receiving)."""
    total = max(float(capture["ended_at"] or 0.0), 0.001)
    bars = [_attempt(number, each, total) for number, each in enumerate(capture["attempts"])]
    first = capture["first_byte_at"]
    start = total if first is None else float(first)
    bars.append(_bar("client", f"first byte {milliseconds(None if first is None else start * 1000)}",
                     [("before", 0.0, start), ("sending", start, total)], total))  # fmt: skip
    height = len(bars) * ROW + 24
    placed = [tag("g", bar, transform=f"translate(0 {at * ROW})") for at, bar in enumerate(bars)]
    axis = [
        tag("text", milliseconds(total * 1000 * mark / (MARKS - 1)), x=_x(total * mark / (MARKS - 1), total),
            y=height - 4, class_="axis", text_anchor="middle" if mark else "start")
        for mark in range(MARKS)
    ]  # fmt: skip
    title = tag("title", f"Timings: {milliseconds(total * 1000)} in all")
    return tag("svg", title, *placed, *axis, viewBox=f"0 0 {WIDTH} {height}", class_="waterfall", role="img",
               aria_label=f"Timings: {milliseconds(total * 1000)} in all")  # fmt: skip


def _attempt(number: int, attempt: JsonObject, total: float) -> Markup:
    sent, head, end = (attempt[name] for name in ("sent_at", "head_at", "ended_at"))
    end = total if end is None else end
    name = f"{'try' if attempt['further'] else 'attempt'} {number + 1} · {attempt['target']}"
    status = attempt["status"] if attempt["status"] is not None else "no answer"
    kind = "receiving" if attempt["status"] == 200 and not attempt["error"] else "failing"
    spans = [("waiting", sent, end if head is None else head)]
    if head is not None:
        spans.append((kind, head, end))
    return _bar(name, f"{status}, {milliseconds((end - sent) * 1000)}", spans, total)


def _bar(name: str, words: str, spans: list[tuple[str, float, float]], total: float) -> Markup:
    rects = [
        tag("rect", x=_x(start, total), y=5, height=16, rx=2, class_=f"span-{kind}",
            width=max(1.5, round(_x(end, total) - _x(start, total), 1)))
        for kind, start, end in spans
    ]  # fmt: skip
    label = tag("text", name if len(name) <= 45 else f"{name[:44]}…", x=0, y=17, class_="label")
    text = tag("text", words, x=_x(spans[-1][2], total) + 8, y=17)
    return tag("g", label, *rects, text)


def _x(at: float, total: float) -> float:
    return round(LABEL + (WIDTH - LABEL - WORDS) * min(1.0, max(0.0, at / total)), 1)
