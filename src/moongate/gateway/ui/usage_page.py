"""The page of usage: money and tokens by key, team, model or day."""

from __future__ import annotations

import time
from typing import Final

from moongate.errors import BadRequest
from moongate.gateway.limits.periods import day_from_text, day_text
from moongate.gateway.store.database import Database
from moongate.gateway.store.fields import DOLLAR
from moongate.gateway.store.keys import KeyStore
from moongate.gateway.store.usage_report import usage_sums
from moongate.gateway.ui.charts import stacked_bars
from moongate.gateway.ui.layout import count, dollars, row, shell, table, tiles
from moongate.gateway.ui.markup import Markup, tag
from moongate.gateway.ui.request import UiContext, UiRequest, UiResponse, page
from moongate.payload import JsonObject

BY: Final = ("key", "team", "model", "provider", "front", "worth", "day")
DAYS: Final = 30
MAX_DAYS: Final = 400
MAX_SHOWN: Final = 500
COLUMNS: Final = (
    ("requests", "Requests"), ("input", "Input"), ("cache_read", "From cache"), ("cache_write", "To cache"),
    ("output", "Output"), ("reasoning", "Reasoning"), ("repairs", "Repairs"), ("cost", "Cost"),
)  # fmt: skip


async def show_usage(context: UiContext, request: UiRequest) -> UiResponse:
    by = request.query.get("by", "key")
    if by not in BY:
        raise BadRequest(f"expected one of {', '.join(BY)}", path="by", code="bad_query")
    today = int(time.time() // 86_400)
    first, last = _day(request, "from", today - DAYS + 1), _day(request, "to", today)
    if not 0 <= last - first < MAX_DAYS:
        raise BadRequest(f"expected at most {MAX_DAYS} days, the first before the last", path="from", code="bad_query")

    def read(database: Database) -> tuple[list[JsonObject], list[JsonObject], dict[str, str]]:
        sums = usage_sums(database, [by], first_day=first, end_day=last + 1)
        daily = usage_sums(database, list(dict.fromkeys([by, "day"])), first_day=first, end_day=last + 1)
        store = KeyStore(database)
        names = {key.id: key.name or key.label for key in store.list_keys(limit=1000)}
        return sums, daily, names | {team.id: team.name for team in store.teams(limit=1000)}

    sums, daily, names = await context.in_store(read)
    sums.sort(key=lambda each: (-each["cost"], -each["requests"]))
    days = [day_text(day) for day in range(first, last + 1)]
    content = (
        tag("div", tag("h1", "Usage"), _form(by, day_text(first), day_text(last)), class_="head"),
        _totals(sums),
        _charts(by, days, daily, names),
        _table(by, sums, names),
    )
    return page(shell(request, "Usage", *content))


def _day(request: UiRequest, name: str, default: int) -> int:
    text = request.query.get(name)
    try:
        return day_from_text(text) if text else default
    except ValueError:
        raise BadRequest("expected a day like 2026-11-18", path=name, code="bad_query") from None


def _form(by: str, first: str, last: str) -> Markup:
    options = [tag("option", name, value=name, selected=name == by) for name in BY]
    return tag(
        "form",
        tag("label", tag("span", "By"), tag("select", *options, name="by")),
        tag("label", tag("span", "From"), tag("input", type="date", name="from", value=first)),
        tag("label", tag("span", "To"), tag("input", type="date", name="to", value=last)),
        tag("button", "Show"),
        method="get",
        action="/ui/usage",
        class_="filters",
    )


def _totals(sums: list[JsonObject]) -> Markup:
    def total(name: str) -> int:
        return sum(each[name] for each in sums)

    return tiles(
        ("Cost", dollars(total("cost") / DOLLAR)),
        ("Requests", count(total("requests"))),
        ("Tokens in", count(total("input") + total("cache_read") + total("cache_write"))),
        ("Tokens out", count(total("output"))),
        ("Repairs", count(total("repairs"))),
    )


def _charts(by: str, days: list[str], daily: list[JsonObject], names: dict[str, str]) -> Markup:
    place = {day: at for at, day in enumerate(days)}
    money: dict[str, list[float]] = {}
    tokens: dict[str, list[float]] = {}
    for each in daily:
        at = place.get(each["day"])
        if at is None:
            continue
        name = "all" if by == "day" else _name(by, each, names)
        money.setdefault(name, [0.0] * len(days))[at] += each["cost"] / DOLLAR
        tokens.setdefault(name, [0.0] * len(days))[at] += sum(
            each[kind] for kind in ("input", "cache_read", "cache_write", "output")
        )
    labels = [day[5:] for day in days]
    ordered = sorted(money, key=lambda name: (-sum(money[name]), -sum(tokens[name])))  # one colour in both charts
    what = "" if by == "day" else f" by {by}"
    pairs = ((f"Dollars a day{what}", money, dollars), (f"Tokens a day{what}", tokens, _short_count))
    sections = [
        tag(
            "section",
            tag("h2", title),
            stacked_bars(labels, [(name, series[name]) for name in ordered], shown, about=title),
        )
        for title, series, shown in pairs
    ]
    return tag("div", *sections, class_="cards")


def _short_count(value: float) -> str:
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.1f} {unit}"
    return f"{value:.0f}"


def _name(by: str, each: JsonObject, names: dict[str, str]) -> str:
    return names.get(str(each[by]), str(each[by])) or "(none)"


def _table(by: str, sums: list[JsonObject], names: dict[str, str]) -> Markup:
    if not sums:
        return tag("p", "Nothing was used in these days.", class_="empty")
    rows = []
    for each in sums[:MAX_SHOWN]:
        values = [dollars(each[name] / DOLLAR) if name == "cost" else count(each[name]) for name, _ in COLUMNS]
        rows.append(row([_name(by, each, names), *values], ["", *(["n"] * len(values))]))
    columns = [(by.title(), ""), *((title, "n") for _, title in COLUMNS)]
    return table(columns, rows, caption=f"Usage by {by}")
