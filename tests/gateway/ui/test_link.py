"""The link that logs in once: printed by a gateway with the built-in simulator, but not into the log of a service."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.served import ASK, PATH, serving
from tests.gateway.ui.running import pages
from tests.support.http import get, post

from moongate.gateway.ui.sessions import LINK_SECONDS, Sessions, link_token

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


def test_the_demo_prints_another_one(tmp_path: Path) -> None:
    """In another terminal, while the gateway with the built-in simulator runs."""
    with serving(tmp_path) as served:
        served.root()
        environ = {**os.environ, "MOONGATE_HOME": str(tmp_path / "home")}
        demo = [sys.executable, "-m", "moongate", "demo"]
        done = subprocess.run(demo, env=environ, capture_output=True, text=True, check=True, timeout=60)
        found = re.search(r"next: (http://\S+/ui/login\?token=\S+)", done.stdout)
        assert found, done.stdout
        assert found[1] != served.find(LINK, err=True)[1]
        assert [get(found[1]).status for _ in range(2)] == [303, 401]


def test_a_link_ends_and_cannot_be_made_without_the_key() -> None:
    now = [1000.0]
    sessions = Sessions(clock=lambda: now[0])
    token, late = (link_token("key", lambda: now[0]) for _ in range(2))
    assert not sessions.redeem(link_token("other", lambda: now[0]), "key")
    assert not any(sessions.redeem(each, "key") for each in ("", ".", "x", "9999999999.x.", token[:-1], f"1{token}"))
    assert sessions.redeem(token, "key")
    assert not sessions.redeem(token, "key")
    now[0] += LINK_SECONDS
    assert not sessions.redeem(late, "key")


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
