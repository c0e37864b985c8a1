"""The page of the last requests, and the stream of events that keeps it up to date."""

from __future__ import annotations

import asyncio
from typing import Final
from urllib.parse import quote, urlencode

from moongate.gateway.inspect.capture_store import key_of
from moongate.gateway.inspect.recent_requests import RecentRequest
from moongate.gateway.server.response_writer import ResponseWriter
from moongate.gateway.ui.layout import count, dollars, milliseconds, post_form, shell, table
from moongate.gateway.ui.markup import Markup, tag, visible
from moongate.gateway.ui.request import UiContext, UiRequest, UiResponse, page, redirect
from moongate.gateway.ui.request_filter import NAMES, SPANS, STATUSES, choices, request_filter
from moongate.payload import JsonObject, dumps

PAGE_SIZE: Final = 100
POLL_SECONDS: Final = 0.25
BUSY_SECONDS: Final = 1.0  # after an event that was full: nobody reads 400 rows a second, and each of them costs
PING_SECONDS: Final = 15.0
MAX_BATCH: Final = PAGE_SIZE  # rows of one event; older ones are left out, as the page would show no more
MAX_WATCHERS: Final = 32
ASK_FOR: Final = 50
COLUMNS: Final = (
    ("time", "Time", ""), ("status", "Status", ""), ("who", "Key", ""), ("model", "Model → target", ""),
    ("worth", "Worth", ""), ("repairs", "Repairs", ""), ("first", "First byte", "n"), ("duration", "Duration", "n"),
    ("tokens", "Tokens in + out", "n"), ("cost", "Cost", "n"), ("id", "Request", ""),
)  # fmt: skip
_LABELS: Final = {"span": "Time", "key": "Key", "model": "Model", "provider": "Provider", "front": "Front",
                  "status": "Status", "worth": "Worth", "repair": "Repair"}  # fmt: skip


class Watchers:
    """How many pages are kept up to date now."""

    count = 0


def row_cells(line: JsonObject) -> dict[str, str]:
    """What a row shows, by column; the same words on the page and in its updates."""
    target = f"{line.get('provider')},{line.get('model')}" if line.get("provider") else ""
    asked = str(line.get("asked") or "")
    read, written = line.get("input_tokens"), line.get("output_tokens")
    notes: dict[str, int] = line.get("notes") or {}
    cells = {
        "time": str(line.get("time", ""))[11:23],
        "status": str(line.get("status", "")),
        "who": str(line.get("client") or "–"),
        "model": asked if target in ("", asked) else f"{asked} → {_short_target(asked, line)}",
        "worth": " ".join([str(line.get("worth") or ""), *(line.get("damage") or [])]),
        "repairs": ", ".join(f"{kind} ×{number}" if number > 1 else kind for kind, number in notes.items()),
        "first": milliseconds(line.get("first_byte_ms")),
        "duration": milliseconds(line.get("duration_ms")),
        "tokens": f"{count(read)} + {count(written)}" if read is not None or written is not None else "–",
        "cost": dollars(line.get("cost_usd")),
        "id": str(line.get("id", "")),
    }
    return {name: visible(text[:200]) for name, text in cells.items()}


def _short_target(asked: str, line: JsonObject) -> str:
    """The provider alone, if the client has named the model as the provider does."""
    return str(line["provider"]) if asked == line.get("model") else f"{line['provider']},{line['model']}"


def row_classes(line: JsonObject) -> str:
    status = line.get("status")
    kind = "bad" if isinstance(status, int) and status >= 500 else "warn" if status != 200 else "good"
    return f"{kind} worth-{line.get('worth')}" if line.get("worth") else kind


async def show_requests(context: UiContext, request: UiRequest) -> UiResponse:
    recent, inspector = context.sources.recent, context.sources.inspector
    recent.gather()
    found = recent.select(request_filter(request.query))
    number = request.query.get("page", "1")
    current = int(number) if number.isdigit() and 0 < int(number[:6]) < 10_000 else 1
    shown = found[(current - 1) * PAGE_SIZE : current * PAGE_SIZE]
    captured = inspector.store.ids()
    rows = [_row(each, captured) for each in shown]
    query = urlencode({name: request.query[name] for name in NAMES if request.query.get(name)})
    live = tag("button", "Pause", type="button", id="live", data_query=query, data_after=recent.last,
               aria_pressed="true") if current == 1 else None  # fmt: skip
    columns = [(title, kind) for _, title, kind in COLUMNS]
    content = (
        tag("div", tag("h1", "Requests"), tag("p", f"{count(len(found))} of the last {count(len(recent.all))}",
                                              id="count", class_="hint", aria_live="off"),
            _capture_form(context, request), live, class_="head"),
        _filter_form(request, choices(each.line for each in recent.all)),
        tag("template", _row_template(), id="row"),
        table(columns, rows, caption="The last requests", id_="rows"),
        None if found else _nothing_yet(request),
        _pager(request, current, len(found)),
    )  # fmt: skip
    return page(shell(request, "Requests", *content, scripts=("requests.js",)))


def _nothing_yet(request: UiRequest) -> Markup:
    filtered = any(request.query.get(name) for name in NAMES)
    text = "No request matches." if filtered else "No request yet. They appear here as they are answered."
    return tag("p", text, class_="empty", id="empty")


def _row(each: RecentRequest, captured: set[str]) -> Markup:
    line = each.line
    cells = row_cells(line)
    href = f"/ui/requests/{quote(str(line.get('id', '')), safe='')}"
    tds = []
    for name, _, kind in COLUMNS:
        text: object = cells[name]
        if name == "id":
            text = tag("a", cells[name], href=href)
        if name == "time" and key_of(str(line.get("id"))) in captured:
            text = [cells[name], tag("span", "●", class_="captured", title="captured", role="img",
                                     aria_label="captured")]  # fmt: skip
        tds.append(tag("td", text, class_=f"c-{name} {kind}".strip()))
    return tag("tr", *tds, class_=row_classes(line), data_number=each.number)


def _row_template() -> Markup:
    """What an update fills with text."""
    tds = [
        tag("td", tag("a", href="/ui/requests") if name == "id" else None, class_=f"c-{name} {kind}".strip())
        for name, _, kind in COLUMNS
    ]
    return tag("tr", *tds)


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
    context.sources.inspector.budget.set(int(wanted) if wanted.isdigit() and len(wanted) < 6 else 0)
    return redirect("/ui/requests")


def _pager(request: UiRequest, current: int, found: int) -> Markup | None:
    last = max(1, -(-found // PAGE_SIZE))
    if last == 1:
        return None
    links: list[object] = []
    if current > 1:
        links.append(tag("a", "← Newer", href=request.url(page=current - 1 if current > 2 else None), rel="prev"))
    links.append(tag("span", f"Page {current} of {last}"))
    if current < last:
        links.append(tag("a", "Older →", href=request.url(page=current + 1), rel="next"))
    return tag("nav", *links, class_="pager", aria_label="Pages of requests")


async def stream_requests(context: UiContext, request: UiRequest) -> UiResponse:
    """Rows of requests that match, as they are answered."""
    if Watchers.count >= MAX_WATCHERS:
        return UiResponse(503, [(b"retry-after", b"5")])
    after = request.query.get("after", "")
    start = int(after) if after.isdigit() and len(after) < 16 else context.sources.recent.last
    matches = request_filter(request.query)

    async def stream(writer: ResponseWriter) -> None:
        left = asyncio.Event()
        writer.on_disconnect(left.set)
        recent, number, silent = context.sources.recent, start, 0.0
        Watchers.count += 1
        try:
            while not left.is_set():
                recent.gather()
                rows = [each for each in recent.after(number) if matches(each.line)]
                pause = BUSY_SECONDS if len(rows) >= MAX_BATCH else POLL_SECONDS
                number, silent = recent.last, silent + pause
                if (rows or silent >= PING_SECONDS) and not writer.paused:
                    silent = 0.0
                    writer.write(_event(rows, number, context) if rows else b": still here\n\n")
                try:
                    await asyncio.wait_for(left.wait(), pause)
                except TimeoutError:
                    continue
        finally:
            Watchers.count -= 1

    return UiResponse(200, [(b"content-type", b"text/event-stream")], stream=stream)


def _event(rows: list[RecentRequest], number: int, context: UiContext) -> bytes:
    kept, captured = len(context.sources.recent.all), context.sources.inspector.store.ids()
    shown = [
        {
            "number": each.number,
            "classes": row_classes(each.line),
            "cells": row_cells(each.line),
            "captured": key_of(str(each.line.get("id"))) in captured,
        }
        for each in rows[-MAX_BATCH:]
    ]
    data = {"rows": shown, "left_out": max(0, len(rows) - MAX_BATCH), "kept": kept}
    return b"id: %d\ndata: %b\n\n" % (number, dumps(data))
