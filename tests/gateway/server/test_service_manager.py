"""systemd's protocols: with a notification socket of the test's own, and with sockets that systemd passes on."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from moongate.errors import ConfigError
from moongate.gateway.server.listening import sockets_of
from moongate.gateway.server.service_manager import ServiceManager

TIMEOUT = 30.0


@contextlib.contextmanager
def notifications(address: str) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiver:
        receiver.bind(address)
        receiver.settimeout(TIMEOUT)
        yield receiver


def lines(receiver: socket.socket) -> list[str]:
    return receiver.recv(4096).decode().split("\n")


@pytest.mark.parametrize("abstract", [False, True])
def test_each_state_is_one_datagram(tmp_path: Path, abstract: bool) -> None:
    name = f"moongate-test-{os.getpid()}" if abstract else str(tmp_path / "notify")
    with notifications("\0" + name if abstract else name) as receiver:
        manager = ServiceManager.from_environment({"NOTIFY_SOCKET": f"@{name}" if abstract else name}, os.getpid())
        manager.heartbeat()  # no watchdog is wanted
        manager.ready()
        manager.reloading()
        manager.reloaded()
        manager.stopping()
        assert lines(receiver) == ["READY=1"]
        reloading, stamp = lines(receiver)
        assert reloading == "RELOADING=1"
        assert stamp.startswith("MONOTONIC_USEC=")
        assert abs(int(stamp.partition("=")[2]) / 1e6 - time.clock_gettime(time.CLOCK_MONOTONIC)) < 60
        assert lines(receiver) == ["READY=1"]
        assert lines(receiver) == ["STOPPING=1"]


def test_the_watchdog_is_fed_three_times_in_its_time(tmp_path: Path) -> None:
    address = str(tmp_path / "notify")
    with notifications(address) as receiver:
        environment = {"NOTIFY_SOCKET": address, "WATCHDOG_USEC": "600000", "WATCHDOG_PID": str(os.getpid())}
        manager = ServiceManager.from_environment(environment, os.getpid())
        end = time.monotonic() + 0.5
        while time.monotonic() < end:
            manager.heartbeat()
            time.sleep(0.01)
        receiver.settimeout(0.05)
        found = []
        with contextlib.suppress(TimeoutError):
            while True:
                found += lines(receiver)
    assert set(found) == {"WATCHDOG=1"}
    assert 2 <= len(found) <= 3


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"NOTIFY_SOCKET": "vsock:2:1234"},
        {"NOTIFY_SOCKET": "/nobody/listens"},
        {"NOTIFY_SOCKET": "/" + "x" * 500},
        {"WATCHDOG_USEC": "abc", "LISTEN_FDS": "1"},
        {"LISTEN_PID": "1", "LISTEN_FDS": "1", "WATCHDOG_PID": "1", "WATCHDOG_USEC": "10"},
    ],
)
def test_without_a_manager_nothing_happens(environment: dict[str, str]) -> None:
    manager = ServiceManager.from_environment(environment, os.getpid())
    assert manager.sockets == ()
    for report in (manager.ready, manager.heartbeat, manager.reloading, manager.reloaded, manager.stopping):
        report()


@pytest.mark.parametrize(("count", "message"), [("1000", "at most 64"), ("60", "is no socket")])
def test_descriptors_that_are_no_sockets_are_an_error(count: str, message: str) -> None:
    program = (
        "import os\nfrom moongate.gateway.server.service_manager import ServiceManager\n"
        f"ServiceManager.from_environment({{'LISTEN_PID': str(os.getpid()), 'LISTEN_FDS': '{count}'}}, os.getpid())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "ConfigError" in done.stderr
    assert message in done.stderr


def test_a_socket_that_does_not_listen_is_an_error() -> None:
    program = (
        "import os, socket\nfrom moongate.gateway.server.service_manager import ServiceManager\n"
        "unbound = socket.socket()\nif unbound.fileno() != 3:\n    os.dup2(unbound.fileno(), 3)\n"
        "ServiceManager.from_environment({'LISTEN_PID': str(os.getpid()), 'LISTEN_FDS': '1'}, os.getpid())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "descriptor 3 is no listening TCP socket" in done.stderr


def test_each_worker_has_a_socket_and_each_socket_a_worker() -> None:
    with socket.socket() as a, socket.socket() as b, socket.socket() as c:
        assert sockets_of(0, 1, [a, b, c]) == [a, b, c]
        assert [sockets_of(index, 2, [a, b, c]) for index in range(2)] == [[a, c], [b]]
        assert [sockets_of(index, 3, [a]) for index in range(3)] == [[a], [a], [a]]


def test_too_many_sockets_are_an_error() -> None:
    with pytest.raises(ConfigError, match="at most 64 sockets"):
        ServiceManager.from_environment({"LISTEN_PID": "7", "LISTEN_FDS": "65"}, 7)


@pytest.mark.parametrize(
    ("environ", "watched"),
    [
        ({}, False),
        ({"NOTIFY_SOCKET": "/n"}, False),
        ({"WATCHDOG_USEC": "30000000"}, False),
        ({"NOTIFY_SOCKET": "/n", "WATCHDOG_USEC": "30000000"}, True),
        ({"NOTIFY_SOCKET": "/n", "WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "1"}, False),
    ],
)
def test_whether_the_manager_has_a_watchdog(environ: dict[str, str], watched: bool) -> None:
    assert ServiceManager.from_environment(environ, os.getpid()).has_watchdog is watched
