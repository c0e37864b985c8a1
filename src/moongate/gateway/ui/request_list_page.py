"""The page of the last requests. `request_events.py` keeps it up to date."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote, urlencode

from moongate.gateway.inspect.capture_store import key_of
from moongate.gateway.inspect.recent_requests import RecentRequest
from moongate.gateway.ui.layout import count, post_form, shell, table
from moongate.gateway.ui.markup import Markup, tag
from moongate.gateway.ui.request import UiContext, UiRequest, UiResponse, page, redirect
from moongate.gateway.ui.request_filter import NAMES, SPANS, STATUSES, choices, request_filter
from moongate.gateway.ui.request_row import row_cells, row_classes

PAGE_SIZE: Final = 100
ASK_FOR: Final = 50
# Class and title of each column, and the cells that stand in it, one below the other.
COLUMNS: Final = (
    ("when", "Time (UTC), request", ("time", "id")), ("state", "Status", ("status", "worth")), ("by", "Key", ("who",)),
    ("asked", "Model → target", ("model", "target")), ("what", "Problems and repairs", ("problem", "repairs")),
    ("n first-byte", "First byte", ("first",)), ("n took", "Duration", ("duration",)),
    ("n used", "Tokens in + out", ("tokens",)), ("n price", "Cost", ("cost",)),
)  # fmt: skip
_LABELS: Final = {"span": "Time", "key": "Key", "model": "Model", "provider": "Provider", "front": "Front",
                  "status": "Status", "worth": "Worth", "repair": "Repair"}  # fmt: skip


async def show_requests(context: UiContext, request: UiRequest) -> UiResponse:
    recent, inspector = context.sources.recent, context.sources.inspector
    recent.gather()
    lines, last = list(recent.all), recent.last
    found, options = await asyncio.to_thread(_chosen, lines, request.query)
    number = request.query.get("page", "1")
    pages = max(1, -(-len(found) // PAGE_SIZE))
    current = min(max(1, int(number)), pages) if number.isdecimal() and len(number) < 6 else 1
    shown = found[(current - 1) * PAGE_SIZE : current * PAGE_SIZE]
    captured = inspector.store.ids()
    rows = [_row(each, captured) for each in shown]
    query = urlencode({name: request.query[name] for name in NAMES if request.query.get(name)})
    live = tag("button", "Pause", type="button", id="live", data_query=query, data_after=last,
               aria_pressed="true") if current == 1 else None  # fmt: skip
    columns = [(title, kind) for kind, title, _ in COLUMNS]
    content = (
        tag("div", tag("h1", "Requests"), tag("p", f"{count(len(found))} of the last {count(len(lines))}",
                                              id="count", class_="hint", aria_live="off"),
            _capture_form(context, request), live, class_="head"),
        _filter_form(request, options),
        tag("template", _row_template(), id="row"),
        table(columns, rows, caption="The last requests", id_="rows", class_="requests"),
        None if found else _nothing_yet(request),
        _pager(request, current, pages),
    )  # fmt: skip
    return page(shell(request, "Requests", *content, scripts=("requests.js",)))


def _chosen(lines: list[RecentRequest], query: Mapping[str, str]) -> tuple[list[RecentRequest], dict[str, list[str]]]:
    """The requests that match, newest first, and what filters may choose from. In a thread, because of 10 000."""
    wanted = request_filter(query)
    return [each for each in reversed(lines) if wanted(each.line)], choices(each.line for each in lines)


def _nothing_yet(request: UiRequest) -> Markup:
    filtered = any(request.query.get(name) for name in NAMES)
    text = "No request matches." if filtered else "No request yet. They appear here as they are answered."
    return tag("p", text, class_="empty", id="empty")


def _row(each: RecentRequest, captured: set[str]) -> Markup:
    cells: dict[str, object] = dict(row_cells(each.line))
    name = str(each.line.get("id", ""))
    cells["id"] = tag("a", cells["id"], href=f"/ui/requests/{quote(name, safe='')}")
    if key_of(name) in captured:
        cells["time"] = [cells["time"], tag("span", "●", class_="captured", title="captured", role="img",
                                            aria_label="captured")]  # fmt: skip
    return tag("tr", *_columns(cells), class_=row_classes(each.line), data_number=each.number)


def _row_template() -> Markup:
    """What an update fills with text."""
    return tag("tr", *_columns({"id": tag("a", href="/ui/requests")}))


def _columns(cells: Mapping[str, object]) -> list[Markup]:
    return [
        tag("td", *(tag("span", cells.get(name), class_=f"c-{name}") for name in names), class_=kind)
        for kind, _, names in COLUMNS
    ]


def _filter_form(request: UiRequest, found: dict[str, list[str]]) -> Markup:
    options = {"span": list(SPANS), "status": [*STATUSES, "499"], **found}
    if found["repair"]:
        options["repair"] = ["any", *found["repair"]]
    fields = []
    for name, label in _LABELS.items():
        chosen = request.query.get(name, "")
        values = options[name] if not chosen or chosen in options[name] else [*options[name], chosen]
        choices_ = [tag("option", "all", value="")]
        choices_ += [tag("option", value, value=value, selected=value == chosen) for value in values]
        fields.append(tag("label", tag("span", label), tag("select", *choices_, name=name)))
    fields.append(tag("label", tag("span", "Id"), tag("input", name="id", type="search", maxlength=128,
                                                      value=request.query.get("id", ""))))  # fmt: skip
    fields.append(tag("button", "Filter"))
    if any(request.query.get(name) for name in NAMES):
        fields.append(tag("a", "Clear", href="/ui/requests", class_="clear"))
    return tag("form", *fields, method="get", action="/ui/requests", class_="filters", id="filters")


def _capture_form(context: UiContext, request: UiRequest) -> Markup:
    left, all_of_them = context.sources.inspector.budget.left, context.sources.state().inspect_all
    if all_of_them:
        return tag("p", "Every request is captured", class_="chip capturing")
    if left:
        return post_form(request, "/ui/requests/capture", tag("input", type="hidden", name="requests", value="0"),
                         tag("button", f"Capturing the next {left} · stop", class_="capturing"))  # fmt: skip
    ask = tag("input", type="hidden", name="requests", value=ASK_FOR)
    return post_form(request, "/ui/requests/capture", ask, tag("button", f"Capture the next {ASK_FOR}"))


async def request_captures(context: UiContext, request: UiRequest) -> UiResponse:
    wanted = request.form.get("requests", "0")
    context.sources.inspector.budget.set(int(wanted) if wanted.isdecimal() and len(wanted) < 6 else 0)
    return redirect("/ui/requests")


def _pager(request: UiRequest, current: int, last: int) -> Markup | None:
    if last == 1:
        return None
    links: list[object] = []
    if current > 1:
        links.append(tag("a", "← Newer", href=request.url(page=current - 1 if current > 2 else None), rel="prev"))
    links.append(tag("span", f"Page {current} of {last}"))
    if current < last:
        links.append(tag("a", "Older →", href=request.url(page=current + 1), rel="next"))
    return tag("nav", *links, class_="pager", aria_label="Pages of requests")
