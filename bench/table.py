"""The figures as one table in Markdown: value, and how many times nginx's."""

from __future__ import annotations

from collections.abc import Mapping

Figures = Mapping[str, Mapping[str, float]]

# Which of nginx's rows a row is held against, where nginx has none of its own.
AGAINST = {"chunk": "CPU µs per chunk", "request": "CPU µs per request"}


def yardstick(figure: str, nginx: Mapping[str, float]) -> float | None:
    if figure in nginx:
        return nginx[figure]
    for kind, known in AGAINST.items():
        if figure.startswith(f"CPU µs per {kind}"):
            return nginx.get(known)
    return None


def cell(value: float | None, base: float | None) -> str:
    if value is None:
        return ""
    shown = f"{value:,.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"
    if not base or base < 0:
        return shown
    ratio = value / base
    return f"{shown} ({ratio:.2f} ×)" if ratio < 3 else f"{shown} ({ratio:.1f} ×)"  # most goals are below 3


def printed(figures: Figures, skipped: Mapping[str, str]) -> str:
    names = list(figures)
    rows = list(dict.fromkeys(figure for each in figures.values() for figure in each))
    rows.sort(key=lambda figure: (": errors" in figure, not figure.startswith("CPU")))
    nginx = figures.get("nginx", {})
    lines = ["| figure | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    for figure in rows:
        base = yardstick(figure, nginx)
        lines.append(f"| {figure} | " + " | ".join(cell(figures[name].get(figure), base) for name in names) + " |")
    lines += [f"{name}: skipped, {why}" for name, why in skipped.items()]
    return "\n".join(lines)
