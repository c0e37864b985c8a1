"""The gateways of this user that are running: each keeps a file that says where it listens, and with which settings.

A gateway holds a lock on its file for as long as it runs, so a file that was left behind by a kill is recognised.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from moongate.gateway.file_lock import lock_file
from moongate.payload import dumps, object_of

FOLDER: Final = "running"  # in the gateway's own folder
MAX_BYTES: Final = 16 * 1024  # of one file
_FOR_CLIENTS: Final = {"0.0.0.0": "127.0.0.1", "::": "::1"}


@dataclass(frozen=True, slots=True)
class GatewayRecord:
    """`config` is the file of the configuration; None: the gateway has the built-in simulator as its provider.

    `admin` is the address of the admin listener; "": there is none.
    """

    url: str
    config: Path | None
    admin: str = ""

    @property
    def about(self) -> str:
        return f"{self.url} ({self.config or 'the built-in simulator'})"


class RunningFile:
    """The file of this gateway. A folder that cannot be written is no error: `connect` then needs to be told more."""

    def __init__(self, home: Path) -> None:
        self._path = home / FOLDER / f"{os.getpid()}.json"
        self._descriptor: int | None = None
        # A worker that outlives its parent must not hold the parent's lock.
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._close)

    def write(self, record: GatewayRecord) -> None:
        config = None if record.config is None else str(record.config.absolute())
        with contextlib.suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            # It gets its name when it is locked and complete: a reader removes files that are not locked.
            new = self._path.with_suffix(".new")
            self._descriptor = os.open(new, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
            lock_file(self._descriptor)
            os.write(self._descriptor, dumps({"url": record.url, "config": config, "admin": record.admin}) + b"\n")
            new.replace(self._path)

    def remove(self) -> None:
        if self._descriptor is not None:
            with contextlib.suppress(OSError):
                self._path.unlink()
            self._close()

    def _close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def running_gateways(home: Path) -> list[GatewayRecord]:
    """Those that run now. Files of others are removed."""
    found = []
    with contextlib.suppress(OSError):
        for path in sorted((home / FOLDER).glob("*.json")):
            record = _read(path)
            if record is not None:
                found.append(record)
    return found


def client_url(host: str, port: int) -> str:
    """The address of a gateway on this machine as its clients see it."""
    host = _FOR_CLIENTS.get(host, host)
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def _read(path: Path) -> GatewayRecord | None:
    with contextlib.suppress(OSError), path.open("rb") as file:
        with contextlib.suppress(BlockingIOError):
            lock_file(file.fileno(), shared=True)
            path.unlink()  # nobody holds it: its gateway is gone
            return None
        record = object_of(file.read(MAX_BYTES)) or {}
        url, config, admin = record.get("url"), record.get("config"), record.get("admin")
        if isinstance(url, str):
            place = Path(config) if isinstance(config, str) else None
            return GatewayRecord(url, place, admin if isinstance(admin, str) else "")
    return None
