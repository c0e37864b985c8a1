"""The page of the configuration as `moongate check` describes it, and of the health of the workers."""

from __future__ import annotations

import socket
import time

from moongate.gateway.http.pages import own_version
from moongate.gateway.inspect.worker_health import WorkerHealth, workers_health
from moongate.gateway.ui.layout import count, milliseconds, row, shell, table, tiles
from moongate.gateway.ui.markup import Markup, tag
from moongate.gateway.ui.request import UiContext, UiRequest, UiResponse, page


async def show_configuration(context: UiContext, request: UiRequest) -> UiResponse:
    sources = context.sources
    state = sources.state()
    workers = workers_health(sources.metrics, time.time())
    store = "off" if state.store is None else "on"
    file = state.config.file
    content = (
        tag("div", tag("h1", "Configuration"), tag("p", str(file) if file is not None else "built in", class_="hint"),
            class_="head"),
        tiles(("Version", own_version()), ("Node", socket.gethostname()[:64]), ("Workers", count(len(workers))),
              ("Requests now", count(sum(each.in_flight for each in workers))), ("Store", store)),
        table([("Worker", ""), ("Process", "n"), ("State", ""), ("Up", "n"), ("Requests now", "n"), ("Streams", "n"),
               ("Longest stall", "n")], [_row(each) for each in workers], caption="Workers of this node"),
        tag("section", tag("h2", "As ", tag("code", "moongate check"), " tells it"),
            tag("pre", sources.describe(state.config) or "It is not described here.", tabindex="0")),
    )  # fmt: skip
    return page(shell(request, "Configuration", *content))


def _row(worker: WorkerHealth) -> Markup:
    chip = tag(
        "span", "answers" if worker.is_alive else "silent", class_=f"chip {'good' if worker.is_alive else 'bad'}"
    )
    cells: list[object] = [
        worker.name, str(worker.pid), chip, milliseconds(worker.up * 1000), count(worker.in_flight),
        count(worker.streams), milliseconds(worker.stall * 1000),
    ]  # fmt: skip
    return row(cells, ["", "n", "", "n", "n", "n", "n"])
