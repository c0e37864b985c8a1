from __future__ import annotations

import errno
import os
import socket
from pathlib import Path

import pytest

from moongate.cli.blame import cannot_listen, listener

needs_proc = pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="only Linux tells")


@needs_proc
@pytest.mark.parametrize(("family", "host"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")])
def test_the_program_that_listens_is_named(family: socket.AddressFamily, host: str) -> None:
    try:
        taken = socket.create_server((host, 0), family=family)
    except OSError:
        pytest.skip(f"no {host} here")
    with taken:
        assert listener(taken.getsockname()[1]).endswith(f", process {os.getpid()}")


def test_nobody_is_blamed_where_nothing_can_be_seen(tmp_path: Path) -> None:
    assert listener(80, tmp_path) == ""
    (tmp_path / "net").mkdir()
    (tmp_path / "7").mkdir()
    row = "0: 0100007F:0050 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 4711 1"
    (tmp_path / "net" / "tcp").write_text(f"  sl  local_address rem_address st\n   {row}\n")
    assert listener(80, tmp_path) == ""


@pytest.mark.parametrize(
    ("error", "host", "port", "words"),
    [
        (OSError(errno.EADDRINUSE, "x"), "::1", 0, "[::1]:0: it is in use ('lsof -i :0' may tell by whom); end that"),
        (OSError(errno.EACCES, "x"), "127.0.0.1", 80, "127.0.0.1:80: a port below 1024 needs rights"),
        (OSError(errno.EACCES, "Denied"), "127.0.0.1", 8080, "127.0.0.1:8080: Denied"),
        (OSError(errno.EADDRNOTAVAIL, "x"), "192.0.2.1", 80, "192.0.2.1:80: this machine has no such address"),
        (socket.gaierror(-2, "x"), "nowhere", 80, "nowhere:80: this machine has no such address"),
        (OSError("odd"), "h", 1, "h:1: odd"),
    ],
)
def test_each_reason_has_its_words(error: OSError, host: str, port: int, words: str) -> None:
    assert cannot_listen(error, host, port).startswith(f"cannot listen on {words}")
