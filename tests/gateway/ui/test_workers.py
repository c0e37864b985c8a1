"""The pages with several workers: they show the requests of all, and outlive the worker that serves them."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from tests.cli.served import Served
from tests.gateway.ui.running import Pages, pages, until


def children(served: Served) -> list[int]:
    pid = served.process.pid
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def lists(ui: Pages, names: set[str]) -> bool:
    try:
        return {row["id"] for row in ui.rows()} >= names
    except OSError:  # nobody serves the pages at this moment
        return False


def test_requests_and_captures_of_all_workers_are_shown_and_outlive_a_worker(tmp_path: Path) -> None:
    with pages(tmp_path, "--workers", "2") as ui:
        ui.log_in()
        ui.capture_next(30)
        replies = [ui.ask() for _ in range(30)]
        names = {reply.headers["x-request-id"] for reply in replies}
        if len({name[:16] for name in names}) < 2:
            pytest.fail("one worker got all requests")  # the kernel chooses; 30 of 30 would be a chance of 2 ** -29
        until(lambda: lists(ui, names))
        for reply in replies[:5]:
            assert "Hello." in ui.page(reply)
        assert "Capture the next 50" in ui.get("/ui/requests").body.decode()  # all 30 were taken
        for child in children(ui.served):  # one of them serves the pages
            os.kill(child, signal.SIGKILL)
            until(lambda: lists(ui, names))
        assert ui.get("/ui/requests").status == 200  # the session goes on
