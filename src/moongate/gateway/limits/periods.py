"""Reset periods of budgets: `day`, `week`, `month`, `Nd`, `never`, by the UTC calendar.

A window is made of whole UTC days, so that what was spent in it is a sum of daily sums. Days are counted from
1970-01-01. A week begins on Monday; windows of N days follow each other from day 0.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Final

DAY_SECONDS: Final = 86_400
MAX_DAYS: Final = 3650
_DAYS: Final = re.compile(r"([1-9][0-9]{0,3})d")
_EPOCH: Final = date(1970, 1, 1).toordinal()
_MONDAY: Final = 4  # day 0 was a Thursday: days 4, 11, 18 … are Mondays


@dataclass(frozen=True, slots=True)
class Window:
    """From the day `start` up to and without the day `end`; None: it never ends."""

    start: int
    end: int | None

    @property
    def ends_at(self) -> int | None:
        """When it ends, in seconds since 1970."""
        return None if self.end is None else self.end * DAY_SECONDS


def parse_period(text: str) -> str:
    """The period as it is stored. Raises ValueError with the words that are allowed."""
    found = _DAYS.fullmatch(text)
    if text in ("day", "week", "month", "never") or (found and int(found[1]) <= MAX_DAYS):
        return text
    raise ValueError(f"expected 'day', 'week', 'month', 'never' or a number of days like '7d' (at most {MAX_DAYS}d)")


def window_of(period: str, day: int) -> Window:
    """The window that contains a day."""
    if period == "never":
        return Window(0, None)
    if period == "month":
        first = date.fromordinal(day + _EPOCH).replace(day=1)
        following = first.replace(year=first.year + first.month // 12, month=first.month % 12 + 1)
        return Window(first.toordinal() - _EPOCH, following.toordinal() - _EPOCH)
    if period == "week":
        start = day - (day - _MONDAY) % 7
        return Window(start, start + 7)
    days = 1 if period == "day" else int(period[:-1])
    start = day - day % days
    return Window(start, start + days)


def day_of(seconds: float) -> int:
    """The UTC day of a time."""
    return int(seconds // DAY_SECONDS)


def day_text(day: int) -> str:
    """2026-11-18."""
    return date.fromordinal(day + _EPOCH).isoformat()


def day_from_text(text: str) -> int:
    """The inverse; also takes a date with a time, whose UTC day counts. Raises ValueError."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is not None:
        moment = moment.astimezone(UTC)
    return moment.date().toordinal() - _EPOCH
