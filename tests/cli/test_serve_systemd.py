"""`moongate serve` under systemd's protocols, in processes of their own: notifications and socket activation."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.cli.served import ASK, CLIENT, PATH, UPSTREAM, config, serving, write
from tests.gateway.scripted import Asked, Scripted, whole
from tests.support.http import get, post

TIMEOUT = 30.0


class Notified:
    """The service manager's end of the notification socket."""

    def __init__(self, folder: Path) -> None:
        self.address = str(folder / "notify")
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(self.address)
        self._socket.settimeout(TIMEOUT)
        self.seen: list[str] = []

    def wait_for(self, line: str) -> None:
        while True:
            found = self._socket.recv(4096).decode().split("\n")
            self.seen += found
            if line in found:
                return

    def close(self) -> None:
        self._socket.close()


@pytest.fixture
def notified(tmp_path: Path) -> Iterator[Notified]:
    found = Notified(tmp_path)
    yield found
    found.close()


@pytest.mark.parametrize("workers", ["1", "2"])
def test_readiness_reload_watchdog_and_stop_are_notified(
    tmp_path: Path, upstream: Scripted, notified: Notified, workers: str
) -> None:
    write(tmp_path, config(upstream))
    arguments = ("--workers", workers)
    with serving(tmp_path, *arguments, NOTIFY_SOCKET=notified.address, WATCHDOG_USEC="900000") as served:
        notified.wait_for("READY=1")
        assert get(f"{served.root()}/ready").status == 200
        notified.wait_for("WATCHDOG=1")
        served.process.send_signal(signal.SIGHUP)
        notified.wait_for("RELOADING=1")
        notified.wait_for("READY=1")
        assert served.err.count("the configuration was reloaded") >= 1
        served.process.send_signal(signal.SIGTERM)
        notified.wait_for("STOPPING=1")
        assert served.end() == 0


# As systemd does it: the socket is descriptor 3, and the process learns that the variables are meant for it.
ACTIVATE = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.environ |= {"LISTEN_PID": str(os.getpid()), "LISTEN_FDS": "1"}
os.execv(sys.executable, [sys.executable, "-m", "moongate", "serve", *sys.argv[2:]])
"""


def environment(folder: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name != "MOONGATE_CONFIG"}
    return {**kept, "MOONGATE_HOME": str(folder / "home"), "UPSTREAM_KEY": UPSTREAM}


def activated(folder: Path, listening: socket.socket, *arguments: str) -> subprocess.Popen[bytes]:
    with (folder / "activated.txt").open("ab") as output:
        return subprocess.Popen(
            [sys.executable, "-c", ACTIVATE, str(listening.fileno()), *arguments],
            cwd=folder,
            env=environment(folder),
            stdout=output,
            stderr=output,
            pass_fds=[listening.fileno()],
        )


@contextlib.contextmanager
def ended(process: subprocess.Popen[bytes]) -> Iterator[subprocess.Popen[bytes]]:
    try:
        yield process
    finally:
        process.kill()
        process.wait(TIMEOUT)


@pytest.mark.parametrize("workers", ["1", "2"])
def test_restarts_refuse_no_connection(tmp_path: Path, upstream: Scripted, workers: str) -> None:
    """The socket outlives the process; requests that come between two processes wait for the next one."""
    upstream.play = slow
    write(tmp_path, config(upstream))
    with socket.create_server(("127.0.0.1", 0), backlog=100) as listening:
        root = f"http://127.0.0.1:{listening.getsockname()[1]}"
        statuses: list[int] = []
        stop = threading.Event()

        def ask() -> None:
            while not stop.is_set():
                statuses.append(post(root + PATH, ASK, key=CLIENT).status)  # each on a connection of its own

        askers = [threading.Thread(target=ask) for _ in range(4)]
        process = activated(tmp_path, listening, "--workers", workers)
        for asker in askers:
            asker.start()
        try:
            for _ in range(3):
                seen = len(statuses)
                until(lambda seen=seen: len(statuses) > seen + 8)  # type: ignore[misc]
                process.send_signal(signal.SIGTERM)
                assert process.wait(TIMEOUT) == 0
                process = activated(tmp_path, listening, "--workers", workers)
        finally:
            with ended(process):
                stop.set()
                for asker in askers:
                    asker.join(TIMEOUT)
    assert set(statuses) == {200}


def test_a_connection_that_was_accepted_before_the_stop_is_served(tmp_path: Path, upstream: Scripted) -> None:
    upstream.play = whole
    write(tmp_path, config(upstream))
    with socket.create_server(("127.0.0.1", 0)) as listening, ended(activated(tmp_path, listening)) as process:
        root = f"http://127.0.0.1:{listening.getsockname()[1]}"
        assert get(f"{root}/ready").status == 200
        connection = http.client.HTTPConnection(root.removeprefix("http://"), timeout=TIMEOUT)
        connection.connect()
        time.sleep(0.5)  # until it is accepted
        process.send_signal(signal.SIGTERM)
        time.sleep(0.3)
        connection.request("POST", PATH, json.dumps(ASK), {"authorization": f"Bearer {CLIENT}"})
        assert connection.getresponse().status == 200
        connection.close()
        assert process.wait(TIMEOUT) == 0


async def slow(asked: Asked) -> None:
    await asyncio.sleep(0.1)
    asked.document()


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + TIMEOUT
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_an_address_of_the_socket_unit_that_others_reach_needs_client_keys(tmp_path: Path, upstream: Scripted) -> None:
    write(tmp_path, config(upstream, api_keys=[]))
    with socket.create_server(("0.0.0.0", 0)) as listening, ended(activated(tmp_path, listening)) as process:
        assert process.wait(TIMEOUT) == 2
    assert "listening on 0.0.0.0 needs 'api_keys'" in (tmp_path / "activated.txt").read_text()


@pytest.mark.needs("systemd")
@pytest.mark.parametrize("workers", ["1", "2"])
def test_systemd_s_own_program_activates_it(tmp_path: Path, upstream: Scripted, workers: str) -> None:
    upstream.play = whole
    write(tmp_path, config(upstream))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    passed = [f"--setenv={name}" for name in ("PATH", "PYTHONPATH", "MOONGATE_HOME", "UPSTREAM_KEY")]
    program = ["systemd-socket-activate", f"--listen=127.0.0.1:{port}", *passed]
    with (tmp_path / "activated.txt").open("wb") as output:
        process = subprocess.Popen(
            [*program, sys.executable, "-m", "moongate", "serve", "--workers", workers],
            cwd=tmp_path,
            env=environment(tmp_path),
            stdout=output,
            stderr=output,
        )
    with ended(process):
        until(lambda: "Listening on" in (tmp_path / "activated.txt").read_text())
        # The first request starts the gateway, which does not listen on the port of its configuration.
        assert post(f"http://127.0.0.1:{port}{PATH}", ASK, key=CLIENT).status == 200
        assert f"listens on http://127.0.0.1:{port}" in (tmp_path / "activated.txt").read_text()
        process.send_signal(signal.SIGTERM)
        assert process.wait(TIMEOUT) == 0
