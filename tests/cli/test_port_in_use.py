from __future__ import annotations

import errno
import socket
from pathlib import Path

import pytest

from moongate.cli.port_in_use import cannot_listen, listener

HEAD = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"


def row(address: str, state: str, inode: int) -> str:
    return f"   0: {address} 00000000:0000 {state} 00000000:00000000 00:00000000 00000000     0        0 {inode} 1 0\n"


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    """A /proc of Linux: 11 is another user's, 12 listens on 3000 and is connected on 4000, 13 listens on [::]:5000."""
    for pid, name, inode in (
        ("11", "secret", 0),
        ("12", "a server", 4711),
        ("13", "node", 4713),
        ("self", "x", 4711),
    ):
        (tmp_path / pid).mkdir()
        (tmp_path / pid / "comm").write_text(f"{name}\n")
        if inode:
            (tmp_path / pid / "fd").mkdir()
            (tmp_path / pid / "fd" / "3").symlink_to(f"socket:[{inode}]")
    (tmp_path / "net").mkdir()
    (tmp_path / "net" / "tcp").write_text(HEAD + row("0100007F:0FA0", "01", 4711) + row("0100007F:0BB8", "0A", 4711))
    (tmp_path / "net" / "tcp6").write_text(
        HEAD + row("0" * 32 + ":1388", "0A", 4713) + row("0" * 32 + ":0050", "0A", 9)
    )
    return tmp_path


@pytest.mark.parametrize(
    ("port", "program"),
    [(3000, "'a server', process 12"), (5000, "'node', process 13"), (4000, ""), (80, ""), (6000, "")],
)
def test_the_program_that_listens_is_named(proc: Path, port: int, program: str) -> None:
    assert listener(port, proc) == program


def test_the_program_is_unknown_without_the_tables_of_the_kernel(tmp_path: Path) -> None:
    assert listener(80, tmp_path) == ""


@pytest.mark.parametrize(
    ("error", "host", "port", "message"),
    [
        (OSError(errno.EADDRINUSE, "x"), "::1", 0, "[::1]:0: it is in use ('lsof -i :0' may show by what); stop that"),
        (OSError(errno.EACCES, "x"), "127.0.0.1", 80, "127.0.0.1:80: a port below 1024 needs privileges"),
        (OSError(errno.EACCES, "Denied"), "127.0.0.1", 8080, "127.0.0.1:8080: Denied"),
        (OSError(errno.EADDRNOTAVAIL, "x"), "192.0.2.1", 80, "192.0.2.1:80: this machine has no such address"),
        (socket.gaierror(-2, "x"), "nowhere", 80, "nowhere:80: this machine has no such address"),
        (OSError("odd"), "h", 1, "h:1: odd"),
    ],
)
def test_each_cause_has_its_message(error: OSError, host: str, port: int, message: str) -> None:
    assert cannot_listen(error, host, port).startswith(f"cannot listen on {message}")
