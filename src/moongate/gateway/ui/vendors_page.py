"""The page of vendors: what each target's answers were worth, how quick it is, and how it fails."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import Final

from moongate.gateway.inspect.verify_reports import last_reports
from moongate.gateway.target import Target
from moongate.gateway.ui.charts import interval, stacked_bars
from moongate.gateway.ui.layout import count, milliseconds, shell, tiles
from moongate.gateway.ui.markup import Markup, tag
from moongate.gateway.ui.request import UiContext, UiRequest, UiResponse, page
from moongate.gateway.ui.vendor_figures import VendorFigures, middle, over_time, percentile, vendor_figures
from moongate.gateway.ui.verify_section import verify_section
from moongate.payload import JsonObject

MAX_SHOWN: Final = 60


async def show_vendors(context: UiContext, request: UiRequest) -> UiResponse:
    sources = context.sources
    sources.recent.gather()
    lines = (each.line for each in list(sources.recent.all))
    figures = await asyncio.to_thread(vendor_figures, lines, sources.metrics)  # of 10 000 it takes 20 ms
    targets = {target.name: target for target in sources.state().targets}
    names = sorted(figures, key=lambda name: (-figures[name].attempts, name))
    reports = last_reports(sources.home)
    cards = [_card(figures[name], targets.get(name), reports.pop(name, None)) for name in names[:MAX_SHOWN]]
    cards += [tag("section", verify_section(report, name)) for name, report in list(reports.items())[:MAX_SHOWN]]
    quiet = sorted(set(targets) - set(figures))
    rest = tag("details", tag("summary", f"{len(quiet)} targets had no requests yet"),
               tag("p", ", ".join(quiet), class_="hint")) if quiet else None  # fmt: skip
    intro = tag("div", tag("h1", "Vendors"), tag("p", "Times and repairs are those of the last requests; counts are "
                "those since the gateway started, of all workers.", class_="hint"), class_="head")  # fmt: skip
    body = tag("div", *cards, class_="cards") if cards else tag("p", "No requests yet.", class_="empty")
    return page(shell(request, "Vendors", intro, body, rest))


def _card(figures: VendorFigures, target: Target | None, report: JsonObject | None) -> Markup:
    now = monotonic()
    provider, _, model = figures.name.partition(",")
    health = _health(target, now)
    quality: Markup | None = None
    if target is not None:
        found = target.score.quality(now)
        quality = tag("p", tag("b", "quality "), f"{found.score:.3f} ", interval(found.score, found.low, found.high),
                      tag("span", f" {found.low:.3f} – {found.high:.3f}, of {found.answers:.0f} answers with tools",
                          class_="hint"))  # fmt: skip
    labels, kinds = over_time(figures.repairs)
    chart: Markup = tag("p", "No repairs among the last requests.", class_="hint")
    if labels:
        about = f"Repairs of {figures.name} by kind over time"
        most_first = sorted(kinds.items(), key=lambda kind: -sum(kind[1]))
        chart = stacked_bars(labels, most_first, lambda value: f"{value:g}", about=about)
    return tag(
        "section",
        tag("h2", model, " ", tag("small", provider), " ", health),
        quality,
        _verdicts(figures),
        tiles(
            ("First byte, 50 %", milliseconds(middle(figures.first_bytes))),
            ("First byte, 95 %", milliseconds(percentile(figures.first_bytes, 0.95))),
            ("Tokens a second", f"{found_speed:.0f}" if (found_speed := middle(figures.speeds)) is not None else "–"),
            ("Failed attempts", f"{count(figures.errors)} of {count(figures.attempts)}"),
        ),
        tag("h3", tag("b", "repairs"), " by kind over time"),
        chart,
        _facts(figures),
        None if report is None else verify_section(report),
    )


def _health(target: Target | None, now: float) -> Markup:
    if target is None:
        return tag("span", "not configured any more", class_="chip")
    if target.available(now):
        return tag("span", "ready", class_="chip good")
    return tag("span", f"rests for {max(0.0, target.cool_down_until - now):.0f} s", class_="chip warn")


def _verdicts(figures: VendorFigures) -> Markup:
    order = ("clean", "repaired", "damaged", "failed", "aborted")
    known = [(name, figures.worth[name]) for name in order if figures.worth.get(name)]
    chips = [tag("span", f"{count(number)} {name}", class_=f"chip worth-{name}") for name, number in known]
    return tag("p", *chips, class_="chips") if chips else tag("p", "No answers yet.", class_="hint")


def _facts(figures: VendorFigures) -> Markup:
    pairs = (
        ("attempts", _listed(figures.outcomes)),
        ("damage", _listed(figures.damage)),
        ("cool-downs", count(figures.cool_downs)),
        ("learned from refusals", _listed(figures.learned)),
    )
    return tag("dl", *(part for name, text in pairs for part in (tag("dt", name), tag("dd", text))), class_="facts")


def _listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} × {count(number)}" for name, number in sorted(counts.items())) or "none"
