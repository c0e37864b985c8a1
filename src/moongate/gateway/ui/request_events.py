"""The stream of events that keeps the list of requests up to date.

It must cost a busy gateway next to nothing: rows are looked at once a tick, not once a request; a tick writes at most
as many as the page shows, and a full one is followed by a longer pause.
"""

from __future__ import annotations

import asyncio
from itertools import islice
from typing import Final

from moongate.gateway.inspect.capture_store import key_of
from moongate.gateway.inspect.recent_requests import RecentRequest
from moongate.gateway.server.response_writer import ResponseWriter
from moongate.gateway.ui.markup import visible
from moongate.gateway.ui.request import UiContext, UiRequest, UiResponse
from moongate.gateway.ui.request_filter import choices, request_filter
from moongate.gateway.ui.request_list_page import PAGE_SIZE
from moongate.gateway.ui.request_row import row_cells, row_classes
from moongate.payload import dumps

POLL_SECONDS: Final = 0.25
BUSY_SECONDS: Final = 2.0  # after an event of many rows: nobody reads 100 of them in less
BUSY_ROWS: Final = PAGE_SIZE // 4  # so that a second never has more than a page of rows
PING_SECONDS: Final = 15.0
MAX_WATCHERS: Final = 32


class Watchers:
    """How many pages are kept up to date now."""

    count = 0


async def stream_requests(context: UiContext, request: UiRequest) -> UiResponse:
    """Rows of requests that match, as they are answered."""
    if Watchers.count >= MAX_WATCHERS:
        return UiResponse(503, [(b"retry-after", b"5")])
    after = request.query.get("after", "")
    start = int(after) if after.isdecimal() and len(after) < 16 else context.sources.recent.last
    matches = request_filter(request.query)

    async def stream(writer: ResponseWriter) -> None:
        left = asyncio.Event()
        writer.on_disconnect(left.set)
        recent, number, silent = context.sources.recent, start, 0.0
        Watchers.count += 1
        try:
            while not left.is_set():
                recent.gather()
                rows: list[RecentRequest] = []
                if not writer.paused:
                    rows = list(islice((each for each in recent.after(number) if matches(each.line)), PAGE_SIZE))
                    number = recent.last
                pause = BUSY_SECONDS if len(rows) > BUSY_ROWS else POLL_SECONDS
                silent += pause
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
    """The rows are given newest first, and are written oldest first."""
    kept, captured = len(context.sources.recent.all), context.sources.inspector.store.ids()
    shown = [
        {
            "number": each.number,
            "classes": row_classes(each.line),
            "cells": row_cells(each.line),
            "captured": bool(captured) and key_of(str(each.line.get("id"))) in captured,
        }
        for each in reversed(rows)
    ]
    occurring = {name: [visible(value) for value in values] for name, values in choices(e.line for e in rows).items()}
    return b"id: %d\ndata: %b\n\n" % (number, dumps({"rows": shown, "kept": kept, "choices": occurring}))
