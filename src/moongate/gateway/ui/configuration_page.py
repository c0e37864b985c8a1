"""The page of the configuration as `moongate check` describes it, and of the health of workers and nodes."""

from __future__ import annotations

import socket
import time

from moongate.gateway.http.pages import own_version
from moongate.gateway.inspect.worker_health import WorkerHealth, workers_health
from moongate.gateway.ui.layout import count, milliseconds, row, shell, table, tiles
from moongate.gateway.ui.markup import Markup, tag
from moongate.gateway.ui.request import UiContext, UiRequest, UiResponse, page
from moongate.payload import JsonObject


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
        _nodes(sources.nodes()),
        tag("section", tag("h2", "As ", tag("code", "moongate check"), " tells it"),
            tag("pre", sources.describe(state.config) or "It is not described here.", tabindex="0")),
    )  # fmt: skip
    return page(shell(request, "Configuration", *content))


def _nodes(found: JsonObject) -> Markup | None:
    """The gateways that share limits with this one; None: there is no shared state."""
    if found.get("shared") is None:
        return None
    words = "" if found["shared"] else " This gateway does not reach the shared state now: what it knows is old."
    rows = [row(_node_cells(each), ["", "", "", "", "n", "n"]) for each in found["data"]]
    columns = [("Node", ""), ("State", ""), ("Address", ""), ("Version", ""), ("Workers", "n"), ("Seen", "n")]
    return tag("section", tag("h2", "Nodes"), tag("p", f"Gateways that share limits.{words}", class_="hint"),
               table(columns, rows, caption="Nodes that share a state"))  # fmt: skip


def _node_cells(node: JsonObject) -> list[object]:
    about = [str(node.get(name, "")) for name in ("address", "version")]
    return [
        str(node["name"]),
        _chip(node["alive"] is True),
        *about,
        count(node.get("workers")),
        f"{node['seen']:.0f} s ago",
    ]


def _chip(is_alive: bool) -> Markup:
    return tag("span", "answers" if is_alive else "silent", class_=f"chip {'good' if is_alive else 'bad'}")


def _row(worker: WorkerHealth) -> Markup:
    cells: list[object] = [
        worker.name, str(worker.pid), _chip(worker.is_alive), milliseconds(worker.up * 1000), count(worker.in_flight),
        count(worker.streams), milliseconds(worker.stall * 1000),
    ]  # fmt: skip
    return row(cells, ["", "n", "", "n", "n", "n", "n"])
