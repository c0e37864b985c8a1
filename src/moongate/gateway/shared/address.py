"""Where the shared state is: `redis://`, `rediss://` (TLS) or `unix://`, with user, password and database."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final
from urllib.parse import unquote, urlsplit

PORT: Final = 6379
SCHEMES: Final = ("redis", "rediss", "valkey", "valkeys", "unix")


@dataclass(frozen=True, slots=True)
class RedisAddress:
    """`path` is that of a Unix socket, "" if there is none."""

    host: str
    port: int
    is_encrypted: bool = False
    path: str = ""
    user: str = ""
    password: str = field(default="", repr=False)
    database: int = 0

    def __str__(self) -> str:
        """For people: without the password."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"unix://{self.path}" if self.path else f"redis{'s' * self.is_encrypted}://{host}:{self.port}"


def parse_address(url: str) -> RedisAddress:
    """Raises ValueError, whose text has nothing of the URL but its scheme."""
    parts = urlsplit(url)
    if parts.scheme not in SCHEMES:
        raise ValueError("expected redis://host:6379, rediss://host:6379 or unix:///path")
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    if parts.scheme == "unix":
        if not parts.path.startswith("/"):
            raise ValueError("a Unix socket needs an absolute path: unix:///run/valkey.sock")
        return RedisAddress("", 0, path=parts.path, user=user, password=password)
    database = parts.path.removeprefix("/") or "0"
    if not parts.hostname or not database.isdecimal():
        raise ValueError("expected a host, and at most the number of a database behind it: redis://host:6379/0")
    try:
        port = parts.port or PORT
    except ValueError:
        raise ValueError("the port is no number from 1 to 65535") from None
    encrypted = parts.scheme in ("rediss", "valkeys")
    return RedisAddress(parts.hostname, port, encrypted, "", user, password, int(database))
