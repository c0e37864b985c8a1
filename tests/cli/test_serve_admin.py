"""The admin listener of a real gateway: `moongate serve` with one and with several workers."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.served import ASK, CLIENT, PATH, Served, config, serving, write
from tests.gateway.scripted import Scripted, whole
from tests.support.http import Reply, get, post, request
from tests.support.length import by_length

ADMIN_KEY = "canary-admin-key-0123456789-0123456789"


def admin_root(served: Served) -> str:
    return served.find(r"admin: (http://\S+)", err=True)[1]


def own_key(folder: Path) -> str:
    return (folder / "home" / "admin-key").read_text().strip()


def patch(url: str, body: Any, key: str) -> Reply:
    return request("PATCH", url, json.dumps(body).encode(), key=key, headers={"content-type": "application/json"})


def ask(root: str, key: str) -> int:
    with contextlib.suppress(OSError, http.client.HTTPException):
        return post(root + PATH, ASK | {"max_tokens": 9}, key=key).status
    return 0


def until(condition: Any, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)


def children(served: Served) -> list[int]:
    pid = served.process.pid
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def answering(url: str, key: str) -> bool:
    try:
        return get(url, key=key).status == 200
    except OSError:
        return False


def counted(metrics: str) -> int:
    """The answers with status 200, as the metrics say."""
    text = get(metrics, key=ADMIN_KEY).body.decode()
    found = re.search(r'moongate_requests_total\{[^}]*status="200"\} (\d+)', text)
    return int(found[1]) if found is not None else 0


def test_a_key_is_made_at_first_start_and_only_its_owner_can_read_it(tmp_path: Path, upstream: Scripted) -> None:
    upstream.play = whole
    write(tmp_path, config(upstream))
    with serving(tmp_path) as served:
        root = admin_root(served)
        key = own_key(tmp_path)
        assert stat.S_IMODE((tmp_path / "home" / "admin-key").stat().st_mode) == 0o600
        assert len(key) >= 43
        assert get(root + "/admin/v1/keys", key=key).json() == {"object": "list", "data": [], "has_more": False}
        assert key not in served.out + served.err
        assert served.stop() == 0
    with serving(tmp_path) as served:
        assert get(admin_root(served) + "/admin/v1/keys", key=key).status == 200
        assert served.stop() == 0


def test_keys_and_teams_are_managed_over_http_and_take_effect(tmp_path: Path, upstream: Scripted) -> None:
    upstream.play = whole
    write(tmp_path, config(upstream, admin={"port": 0, "key": ADMIN_KEY}))
    with serving(tmp_path, "--workers", "2") as served:
        root, base = served.root(), admin_root(served) + "/admin/v1"
        team = post(f"{base}/teams", {"name": "blue", "rpm": 1000}, key=ADMIN_KEY)
        assert team.status == 201
        made = post(f"{base}/keys", {"name": "ada", "team": team.json()["id"]}, key=ADMIN_KEY)
        assert made.status == 201
        key, each = made.json()["key"], f"{base}/keys/{made.json()['id']}"
        until(lambda: {ask(root, key) for _ in range(6)} == {200})
        assert "key" not in get(each, key=ADMIN_KEY).json()
        rotated = post(f"{each}/rotate", {"grace": "1h"}, key=ADMIN_KEY).json()["key"]
        until(lambda: {ask(root, text) for text in (key, rotated) for _ in range(6)} == {200})
        assert patch(each, {"name": "eve", "budget": 1.5}, ADMIN_KEY).json()["budget"] == 1.5
        assert post(f"{each}/disable", {}, key=ADMIN_KEY).status == 400  # it takes no body
        assert request("POST", f"{each}/disable", None, key=ADMIN_KEY, headers={}).json()["disabled"] is True
        until(lambda: {ask(root, text) for text in (key, rotated) for _ in range(6)} == {401})
        in_use = request("DELETE", f"{base}/teams/{team.json()['id']}", None, key=ADMIN_KEY, headers={})
        assert (in_use.status, in_use.json()["error"]["code"]) == (409, "team_in_use")
        assert request("DELETE", each, None, key=ADMIN_KEY, headers={}).json()["deleted"] is True
        assert get(each, key=ADMIN_KEY).status == 404
        log = get(f"{base}/audit", key=ADMIN_KEY).json()["data"]
        assert [line["action"] for line in log] == ["delete", "change", "change", "rotate", "create", "create"]
        assert {line["actor"] for line in log} == {"admin 127.0.0.1"}
        assert log[2]["detail"]["name"] == ["ada", "eve"]
        until(lambda: len(get(f"{base}/usage?by=key,model,day", key=ADMIN_KEY).json()["data"]) == 1)
        used = f"{base}/usage?by=key&key={made.json()['id']}"
        until(lambda: [row["requests"] > 5 for row in get(used, key=ADMIN_KEY).json()["data"]] == [True])
        assert [row["key"] for row in get(used, key=ADMIN_KEY).json()["data"]] == [made.json()["id"]]
        assert get(f"{base}/usage?from=2020-01-01&to=2020-01-02", key=ADMIN_KEY).json()["data"] == []
        assert key not in served.out + served.err
        assert served.stop() == 0


def test_metrics_are_summed_over_workers_and_survive_the_death_of_any(tmp_path: Path, upstream: Scripted) -> None:
    upstream.play = whole
    write(tmp_path, config(upstream, admin={"port": 0, "key": ADMIN_KEY}))
    with serving(tmp_path, "--workers", "3") as served:
        root, metrics = served.root(), admin_root(served) + "/metrics"
        until(lambda: answering(metrics, ADMIN_KEY))
        answered = sum(ask(root, CLIENT) == 200 for _ in range(30))
        assert answered == 30
        until(lambda: counted(metrics) == answered)  # a request is counted after its last byte was written
        for child in children(served):  # one of them serves the admin listener
            os.kill(child, signal.SIGKILL)
            until(lambda gone=child: gone not in children(served) and len(children(served)) == 3)
            until(lambda: answering(metrics, ADMIN_KEY))
            assert counted(metrics) == answered
        assert served.stop() == 0


def test_metrics_leave_the_main_listener_unless_the_configuration_says_so(tmp_path: Path, upstream: Scripted) -> None:
    write(tmp_path, config(upstream, admin="off", metrics="admin"))
    with serving(tmp_path) as served:
        refused = get(served.root() + "/metrics", key=CLIENT)
        assert refused.status == 404
        assert '"metrics": "clients"' in refused.json()["error"]["message"]
        assert "admin:" not in served.err
        assert not (tmp_path / "home" / "admin-key").exists()
        served.stop()
    write(tmp_path, config(upstream, metrics="clients"))
    with serving(tmp_path) as served:
        assert get(served.root() + "/metrics", key=CLIENT).status == 200
        assert get(served.root() + "/metrics", key="wrong").status == 401
        served.stop()


def test_a_port_in_use_ends_the_start_only_if_the_configuration_names_it(tmp_path: Path, upstream: Scripted) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        write(tmp_path, config(upstream, admin={"port": port}))
        with serving(tmp_path) as served:
            assert served.end() == 2
            assert f"admin: cannot listen on 127.0.0.1:{port}: Address already in use by " in served.err
            assert "while attempting" not in served.err


@pytest.fixture
def standard_port() -> Iterator[None]:
    with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", 3001)):
        yield
        return
    yield  # somebody has it anyway


@pytest.mark.usefixtures("standard_port")
def test_a_standard_port_in_use_is_a_warning(tmp_path: Path, upstream: Scripted) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    write(tmp_path, config(upstream))
    with serving(tmp_path, "--port", str(port)) as served:
        served.find(
            r"port 3001 cannot be used \(Address already in use( by [^()]*)?\): there is no admin listener", err=True
        )
        assert get(served.root() + "/health").status == 200
        assert served.stop() == 0


@pytest.mark.usefixtures("standard_port")
def test_if_the_gateways_own_port_is_in_use_that_is_the_only_message(tmp_path: Path, upstream: Scripted) -> None:
    write(tmp_path, config(upstream))
    (tmp_path / "config.json").chmod(0o600)
    with socket.create_server(("127.0.0.1", 0)) as used:
        port = used.getsockname()[1]
        served = Served(tmp_path, "--port", str(port))
        assert served.end() == 1
    assert served.err.startswith(f"moongate: cannot listen on 127.0.0.1:{port}: it is in use by ")
    assert served.err.count("\n") == 1


def test_a_folder_that_cannot_be_written_is_a_warning_where_client_keys_are_configured(
    tmp_path: Path, upstream: Scripted
) -> None:
    (tmp_path / "home").write_text("a file in the place of the folder")
    write(tmp_path, config(upstream, store="off"))
    with serving(tmp_path) as served:
        served.find("no admin key can be kept at .*; there is no admin listener", err=True)
        assert get(served.root() + "/health").status == 200
        assert served.stop() == 0


def test_a_reload_brings_a_new_key(tmp_path: Path, upstream: Scripted) -> None:
    write(tmp_path, config(upstream, admin={"port": 0, "key": ADMIN_KEY}))
    with serving(tmp_path) as served:
        url = admin_root(served) + "/metrics"
        assert get(url, key=ADMIN_KEY).status == 200
        write(tmp_path, config(upstream, admin={"port": 0, "key": ADMIN_KEY[::-1]}))
        served.process.send_signal(signal.SIGHUP)
        until(lambda: get(url, key=ADMIN_KEY[::-1]).status == 200)
        assert get(url, key=ADMIN_KEY).status == 401
        assert served.stop() == 0


def test_the_openapi_document_agrees_with_the_running_server(tmp_path: Path, upstream: Scripted) -> None:
    """schemathesis makes requests of the document, good and bad ones, and compares the answers with it."""
    write(tmp_path, config(upstream, admin={"port": 0, "key": ADMIN_KEY}))
    with serving(tmp_path, "--workers", "2") as served:
        root = admin_root(served)
        command = [
            *(sys.executable, "-m", "schemathesis.cli", "run", f"{root}/admin/v1/openapi.json"),
            *("-H", f"Authorization: Bearer {ADMIN_KEY}", "--checks", "all"),
            # A wrong key waits for a second: `test_every_route_refuses_intruders` tries them all without that.
            *("--exclude-checks", "ignored_auth"),
            *("--max-examples", by_length("5", "15"), "--seed", "1", "--no-color", "--generation-database", "none"),
        ]
        found = subprocess.run(command, capture_output=True, text=True, timeout=280, cwd=tmp_path, check=False)
        assert found.returncode == 0, found.stdout[-8000:]
        assert re.search(r"(\d+) generated, \1 passed|No issues found", found.stdout), found.stdout[-3000:]
        assert served.stop() == 0
        assert "internal error" not in served.err
