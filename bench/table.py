"""The figures as one table in Markdown: the value, how many times nginx's, and the spread of two equal processes."""

from __future__ import annotations

from collections.abc import Mapping

from bench.samples import Samples


def number(value: float) -> str:
    size = abs(value)
    return f"{value:,.0f}".replace(",", " ") if size >= 100 else f"{value:.1f}" if size >= 10 else f"{value:.2f}"


def times(ratio: float) -> str:
    return f"{ratio:.2f} ×" if ratio < 3 else f"{ratio:.1f} ×" if ratio < 20 else f"{ratio:.0f} ×"  # most goals: < 3


def cell(samples: Samples, name: str, figure: str) -> str:
    """Empty where nothing was measured."""
    value = samples.median(name, figure)
    if samples.median(name, f"{figure}: errors"):
        return "fails"
    if value is None:
        return ""
    ratio = samples.ratio(name, figure) if name != "nginx" and figure.startswith("CPU") else None
    return number(value) if ratio is None else f"{number(value)} ({times(ratio)})"


def twin(samples: Samples) -> str | None:
    """The build that ran twice."""
    return next((name for name in samples.names() if name != "nginx" and f"{name}, again" in samples.values), None)


def spread(samples: Samples, figure: str) -> str:
    name = twin(samples)
    found = samples.spread(name, figure) if name else None
    return "" if found is None else f"± {found:.1%}".replace("%", " %")


def figures_of(samples: Samples) -> list[str]:
    """CPU first, in the order of measuring."""
    rows = dict.fromkeys(figure for each in samples.values.values() for figure in each)
    return sorted((row for row in rows if not row.endswith(": errors")), key=lambda row: not row.startswith("CPU"))


def printed(samples: Samples, skipped: Mapping[str, str]) -> str:
    names = samples.names()
    lines = ["| figure | " + " | ".join([*names, "A/A"]) + " |", "|---" * (len(names) + 2) + "|"]
    for figure in figures_of(samples):
        cells = [cell(samples, name, figure) for name in names]
        lines.append(f"| {figure} | " + " | ".join([*cells, spread(samples, figure)]) + " |")
    for name, each in samples.values.items():
        lines += [
            f"{name}: {figure}: {max(count):.0f}" for figure, count in each.items() if figure.endswith(": errors")
        ]
    lines += [f"{name}: skipped, {why}" for name, why in skipped.items()]
    return "\n".join(lines)
