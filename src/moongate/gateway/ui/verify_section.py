"""What `moongate verify` found of a target the last time, on the page of vendors."""

from __future__ import annotations

from typing import Final

from moongate.gateway.ui.layout import count, dollars, row, table
from moongate.gateway.ui.markup import Markup, tag
from moongate.payload import JsonObject

# Rates of a summary, and what they are called here.
RATES: Final = {
    "success": "answered",
    "schema": "calls fit their schemas",
    "f1": "calls when it should (F1)",
    "contract": "contract cases passed",
    "multiturn": "turns passed",
    "stream": "streams passed",
    "tools": "tool cases passed",
}


def verify_section(report: JsonObject, name: str = "") -> Markup:
    """`name` is shown if the section stands alone."""
    title = f"Last verify report{f' of {name}' if name else ''}"
    day = str(report.get("finished") or "")[:16].replace("T", " ")
    spent = report.get("cost_micros")
    words = [
        day,
        f"{count(report.get('samples'))} samples",
        *([dollars(spent / 1e6)] if isinstance(spent, int) else []),
    ]
    end = report.get("end")
    rows = [row([label, _rate(report, "raw", rate), _rate(report, "repaired", rate)], ["", "n", "n"])
            for rate, label in RATES.items() if _of(report, "raw", rate)]  # fmt: skip
    return tag(
        "div",
        tag("h3", tag("b", "verify"), f" {title.removeprefix('Last verify ')}"),
        tag("p", " · ".join(filter(None, words)), f" · {end}" if isinstance(end, str) and end else None, class_="hint"),
        table([("Share", ""), ("raw", "n"), ("repaired", "n")], rows, caption=title) if rows else None,
        tag("p", "in ", tag("code", str(report.get("place") or "")), class_="hint"),
        class_="verify",
    )


def _figure(report: JsonObject, side: str, rate: str) -> JsonObject:
    found: object = report
    for name in (side, "rates", rate):
        found = found.get(name) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}


def _of(report: JsonObject, side: str, rate: str) -> bool:
    return isinstance(_figure(report, side, rate).get("value"), (int, float))


def _rate(report: JsonObject, side: str, rate: str) -> str:
    figure = _figure(report, side, rate)
    value, bounds = figure.get("value"), figure.get("interval")
    if not isinstance(value, (int, float)):
        return "–"
    if not (isinstance(bounds, list) and len(bounds) == 2 and all(isinstance(each, (int, float)) for each in bounds)):
        return f"{value:.1%}"
    return f"{value:.1%} ({bounds[0]:.1%} – {bounds[1]:.1%})"
