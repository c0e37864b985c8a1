"""The link that logs in once: printed by a gateway with the built-in simulator, but not into the log of a service."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.served import ASK, PATH, serving
from tests.gateway.ui.running import pages
from tests.support.http import get, post

LINK = r"inspector \(this link works once\): (http://\S+/ui/login\?token=\S+)"


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_link_logs_in_once(tmp_path: Path, workers: str) -> None:
    with serving(tmp_path, "--workers", workers) as served:
        served.root()
        link = served.find(LINK, err=True)[1]
        wrong = get(link[:-4] + "AAAA")
        assert (wrong.status, "set-cookie" in wrong.headers) == (401, False)
        first = get(link)
        assert (first.status, first.headers["location"]) == (303, "/ui/requests")
        cookie = first.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=Strict" in cookie
        again = get(link)
        assert (again.status, "set-cookie" in again.headers) == (401, False)
        page = get(link.partition("/ui/")[0] + "/ui/requests", headers={"cookie": cookie.partition(";")[0]})
        assert page.status == 200
        assert b"No request yet" in page.body


def test_its_pages_show_what_came_and_what_left(tmp_path: Path) -> None:
    """Nobody had to switch it on: the simulator's answers are no secret."""
    with serving(tmp_path) as served:
        root = served.root()
        link = served.find(LINK, err=True)[1]
        cookie = get(link).headers["set-cookie"].partition(";")[0]
        tools = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]
        body = {**ASK, "model": "kimi-k2-sim-markers", "tools": tools}
        reply = post(root + PATH, body, key=served.find(r"client key: (mg-\S+)", err=True)[1])
        address = link.partition("/ui/")[0] + "/ui/requests/" + reply.headers["x-request-id"]
        page = get(address, headers={"cookie": cookie})
        assert page.status == 200
        assert b"tool_call_begin" in page.body
        assert b"functions.look:0" in page.body


def test_a_service_prints_no_link(tmp_path: Path) -> None:
    with pages(tmp_path) as ui:
        assert "token=" not in ui.served.err
