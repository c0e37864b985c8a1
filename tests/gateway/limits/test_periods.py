"""Windows of budgets, against the calendar of the standard library."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moongate.gateway.limits.periods import (
    DAY_SECONDS,
    MAX_DAYS,
    Window,
    day_from_text,
    day_of,
    day_text,
    parse_period,
    window_of,
)

DAYS = st.integers(0, 60_000)
PERIODS = st.sampled_from(["day", "week", "month", "1d", "7d", "30d", "3650d"])


def of(day: int) -> date:
    return date.fromisoformat(day_text(day))


@given(day=DAYS, period=PERIODS)
def test_windows_hold_their_day_and_follow_each_other(day: int, period: str) -> None:
    window = window_of(period, day)
    assert window.end is not None
    assert window.start <= day < window.end
    assert {window_of(period, each) for each in (window.start, window.end - 1)} == {window}
    assert window_of(period, window.end).start == window.end
    assert window.ends_at == window.end * DAY_SECONDS


@given(day=DAYS)
def test_weeks_begin_on_monday_and_months_on_the_first(day: int) -> None:
    week, month = window_of("week", day), window_of("month", day)
    assert of(week.start).weekday() == 0
    assert week.end == week.start + 7
    assert of(month.start) == of(day).replace(day=1)
    assert month.end is not None
    assert of(month.end).day == 1


@pytest.mark.parametrize(("period", "days"), [("day", 1), ("1d", 1), ("7d", 7), ("30d", 30)])
def test_windows_of_days(period: str, days: int) -> None:
    assert window_of(period, 20_775) == Window(20_775 - 20_775 % days, 20_775 - 20_775 % days + days)


def test_never_has_one_window() -> None:
    assert window_of("never", 20_775) == Window(0, None)
    assert window_of("never", 20_775).ends_at is None


@pytest.mark.parametrize("text", ["day", "week", "month", "never", "1d", "90d", f"{MAX_DAYS}d"])
def test_periods_that_are_taken(text: str) -> None:
    assert parse_period(text) == text


@pytest.mark.parametrize("text", ["", "0d", "d", "year", "Day", "1.5d", "-1d", "01d", f"{MAX_DAYS + 1}d", "7d "])
def test_periods_that_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected 'day'"):
        parse_period(text)


@given(day=DAYS)
def test_days_are_written_and_read(day: int) -> None:
    assert day_from_text(day_text(day)) == day
    assert day_of(day * DAY_SECONDS + 86_399.9) == day


def test_a_time_with_a_zone_counts_by_its_utc_day() -> None:
    assert day_from_text("2026-11-18T23:30:00-02:00") == day_from_text("2026-11-19")
    assert day_from_text("2026-11-18T23:30:00") == day_from_text("2026-11-18")
