"""Why the gateway cannot listen on an address: the cause, the program that has the port, and which flag helps."""

from __future__ import annotations

import errno
import os
import socket
from pathlib import Path

LISTENING = "0A"  # as /proc/net/tcp writes the state


def cannot_listen(error: OSError, host: str, port: int) -> str:
    """The error message for the user, in one line."""
    at = f"cannot listen on [{host}]:{port}" if ":" in host else f"cannot listen on {host}:{port}"
    if error.errno == errno.EADDRINUSE:
        owner = listener(port)
        by = f"by {owner}" if owner else f"('lsof -i :{port}' may show by what)"
        return f"{at}: it is in use {by}; stop that, or use another port with --port (0: any free one)"
    if error.errno in (errno.EACCES, errno.EPERM) and port < 1024:
        return f"{at}: a port below 1024 needs privileges that you do not have; use another with --port"
    if error.errno == errno.EADDRNOTAVAIL or isinstance(error, socket.gaierror):
        return f"{at}: this machine has no such address; choose one that it has with --host"
    return f"{at}: {error.strerror or error}"


def listener(port: int, proc: Path = Path("/proc")) -> str:
    """The program that listens on a port of this machine; "" if unknown (another user's program, or not Linux)."""
    sockets = {f"socket:[{inode}]" for name in ("tcp", "tcp6") for inode in _inodes(proc / "net" / name, port)}
    for folder in proc.glob("[0-9]*") if sockets else ():
        try:
            if any(os.readlink(each) in sockets for each in (folder / "fd").iterdir()):
                return f"{(folder / 'comm').read_text().strip()!r}, process {folder.name}"
        except OSError:  # the process has ended, or belongs to another user
            continue
    return ""


def _inodes(table: Path, port: int) -> list[str]:
    try:
        rows = [line.split() for line in table.read_text().splitlines()[1:]]
    except OSError:
        return []
    return [row[9] for row in rows if row[3] == LISTENING and int(row[1].rpartition(":")[2], 16) == port]
