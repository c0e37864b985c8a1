"""Rows as people read them: columns that fit, a bar for a share; or JSON and CSV for programs."""

from __future__ import annotations

import csv
import sys
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Final
from unicodedata import combining, east_asian_width

from moongate.cli.terminal import Colours
from moongate.gateway.store.fields import money_text
from moongate.payload import dumps_text

MAX_CELL: Final = 40
BAR: Final = 20
JOINERS: Final = "\u200c\u200d"  # of letters and emoji


def print_json(value: object) -> None:
    print(dumps_text(value))


def print_csv(rows: Sequence[Mapping[str, object]], columns: Sequence[str]) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_csv_cell(row.get(name)) for name in columns] for row in rows)


def print_table(rows: Sequence[Mapping[str, object]], columns: Sequence[str], *, zeros: bool = False) -> None:
    """Columns in which no row has anything are left out; numbers stand to the right. `zeros`: 0 is something."""
    paint = Colours()
    if not rows:
        print("none")
        return
    shown = [name for name in columns if any(_says_something(row.get(name), zeros) for row in rows)]
    cells = [[_cell(row.get(name)) for name in shown] for row in rows]
    widths = [max(len(name), *(_width(line[at]) for line in cells)) for at, name in enumerate(shown)]
    numbers = [all(isinstance(row.get(name), int | float | None) for row in rows) for name in shown]
    heads = [
        _padded(name.replace("_", " "), width, right) for name, width, right in zip(shown, widths, numbers, strict=True)
    ]
    print(paint("  ".join(heads).rstrip(), "bold"))
    for line in cells:
        columns_of_line = zip(line, widths, numbers, strict=True)
        print("  ".join(_padded(text, width, right) for text, width, right in columns_of_line).rstrip())


def bar(share: float) -> str:
    """A share as a bar of at most twenty blocks; anything above nothing shows something."""
    eighths = round(share * BAR * 8)
    if share > 0:
        eighths = max(1, eighths)
    whole, rest = divmod(eighths, 8)
    return "█" * whole + ("" if not rest else "▏▎▍▌▋▊▉"[rest - 1])


def _says_something(value: object, zeros: bool) -> bool:
    if zeros and isinstance(value, int | float) and value is not False:
        return True
    return value not in (None, "", [], False)  # 0 equals False


def _cell(value: object) -> str:
    if value is None or value is False:
        return ""
    if isinstance(value, float):
        return money_text(value)  # the only numbers with a fraction are dollars
    if value is True:
        return "yes"
    if isinstance(value, int):
        return f"{value:,}"
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    text = text.replace("T00:00:00Z", "")
    text = "".join([each if each.isprintable() or each in JOINERS else ascii(each)[1:-1] for each in text])
    if _width(text) <= MAX_CELL:
        return text
    ends = accumulate(map(_width, text))
    return text[: sum(end < MAX_CELL for end in ends)] + "…"


def _csv_cell(value: object) -> object:
    """A cell that a spreadsheet would take for a formula is text."""
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@"):
        return f"'{value}"
    return "" if value is None else value


def _padded(text: str, width: int, right: bool) -> str:
    blanks = " " * (width - _width(text))
    return blanks + text if right else text + blanks


def _width(text: str) -> int:
    """The columns of a terminal that it takes: Chinese characters take two, combining accents none."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(each) or each in JOINERS else 2 if east_asian_width(each) in "WF" else 1 for each in text)
