"""The tables of docs/speed.md, from what is on record in bench/results; `make docs` writes them.

A row without figures on record is left out, and a table without rows says which command measures it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench import costs
from bench.contenders import CONTENDERS
from bench.rows import FIRST_BYTES, ROWS
from bench.samples import Samples
from bench.table import cell, number, spread

RESULTS = Path(__file__).parent / "results"
TITLES = {name: each.title or name for name, each in CONTENDERS.items()}
NONE = "Nothing on record yet: `{}` measures it.\n"
FEW_ROWS = [name for name, each in CONTENDERS.items() if each.rows]
FIRST_BYTE = "added time to first byte p50, ms, "

Figures = Sequence[str]


def recorded(name: str) -> dict[str, Any]:
    path = RESULTS / name
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return found


def samples_of(found: dict[str, Any]) -> Samples:
    """A record of medians alone counts as one round."""
    single = {name: {key: [value] for key, value in each.items()} for name, each in found.get("figures", {}).items()}
    samples = Samples(found.get("samples", single))
    # What is measured in one row only is no column, but a row below it.
    for name in FEW_ROWS:
        for figure, values in samples.values.pop(name, {}).items():
            samples.values.setdefault("moongate", {})[f"{figure}, {TITLES[name]}"] = values
    return samples


def row(samples: Samples, names: Sequence[str], label: str, figures: Figures) -> list[str]:
    """One line of a table, some figures to a cell; [] if nobody has any."""
    cells = []
    for name in names:
        if len(figures) == 1:
            cells.append(cell(samples, name, figures[0]))
        else:
            cells.append(" / ".join(filter(None, (cell(samples, name, figure) for figure in figures))))
    return [label, *cells] if any(cells) else []


def lines(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    table = [head, ["---"] * len(head), *filter(None, rows)]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in table)


# The rows beside nginx and the peers: what each is called, and the figures of a cell.
HEADLINES: list[tuple[str, Figures]] = [
    *((f"µs per {each.name}", [each.figure]) for each in ROWS["turn"] if each.who == "everybody"),
    *((f"ms to the first byte, added, p50: {each.name}", [FIRST_BYTE + each.name]) for each in FIRST_BYTES[:3]),
    ("µs per small request", ["CPU µs per request"]),
    ("… `store: off`", ["CPU µs per request, `store: off`"]),
    ("… messages front", ["CPU µs per request, messages"]),
    ("… responses front", ["CPU µs per request, responses"]),
    ("µs per streamed chunk", ["CPU µs per chunk"]),
    ('… `preset: "agent"`', ["CPU µs per chunk, agent preset"]),
    ("… full of markers that are repaired", ["CPU µs per chunk of markers, agent preset"]),
    ("… messages front", ["CPU µs per chunk, messages"]),
    ("… responses front", ["CPU µs per chunk, responses"]),
    ("latency over direct, p50 / p99, ms", ["added latency p50, ms", "added latency p99, ms"]),
    ("requests a second, one process", ["requests a second"]),
    (
        "memory idle / 1 000 / 2 000 streams, MiB",
        ["memory idle, MiB", "memory with 1000 streams, MiB", "memory with 2000 streams, MiB"],
    ),
]


def headline_table() -> str:
    samples = samples_of(recorded("bench.json"))
    names = [name for name in CONTENDERS if name in samples.values]
    if not names:
        return NONE.format("make bench")
    rows = [row(samples, names, label, figures) for label, figures in HEADLINES]
    return lines(["", *(TITLES[name] for name in names)], rows)


def turns_table() -> str:
    """Every row of the turn: nginx and the builds, with the spread of two equal processes."""
    samples = samples_of(recorded("bench.json"))
    names = [name for name, each in CONTENDERS.items() if (each.build or name == "nginx") and name in samples.values]
    figures = [(f"µs per {each.name}", each.figure) for each in ROWS["turn"]]
    figures += [(f"ms to the first byte: {each.name}", FIRST_BYTE + each.name) for each in FIRST_BYTES]
    rows = [(row(samples, names, label, [figure]), spread(samples, figure)) for label, figure in figures]
    if not any(cells for cells, _ in rows):
        return NONE.format("make bench")
    return lines(["", *(TITLES[name] for name in names), "A/A"], [[*cells, off] for cells, off in rows if cells])


def costs_table() -> str:
    found = recorded("costs.json")
    return costs.printed(samples_of(found)) + "\n" if found else NONE.format("make bench")


def growth_lines() -> str:
    """What a turn costs anyway and per KB, for each front."""
    found = recorded("growth.json").get("lines", {})
    names = list(dict.fromkeys(name for each in found.values() for name in each))
    if not names:
        return NONE.format("make bench-growth")
    table = [
        [
            f"a turn, {key.removeprefix('turn-')}",
            *(
                f"{number(line['base'])} + {line['slope']:.2f} · KB ({line['off']:.0%} off at worst)".replace("%", " %")
                for line in (each[name] for name in names)
            ),
        ]
        for key, each in found.items()
    ]
    return lines(["µs", *(TITLES[name] for name in names)], table)
