"""Who is logged in to the pages: sessions, and links that log in once.

Only digests of their tokens are kept. With several workers they are in a file that all can read, so that another worker
can take over the admin listener without anybody having to log in again. The token of a link is signed with the admin
key, so that `moongate serve` and `moongate demo` can make one without asking the worker.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable
from hashlib import sha256
from hmac import compare_digest
from hmac import new as new_hmac
from pathlib import Path
from typing import Final

from moongate.payload import JsonObject, dumps, object_of

SESSION_SECONDS: Final = 12 * 3600
LINK_SECONDS: Final = 3600
MAX_SESSIONS: Final = 64  # the oldest end
COOKIE: Final = "moongate_session"


class Sessions:
    """`path` None: there is one worker. A session belongs to an admin key, and ends when that is changed."""

    def __init__(self, path: Path | None = None, clock: Callable[[], float] = time.time) -> None:
        self._path, self._clock = path, clock
        self._ends: dict[str, float] = {}  # by digest; sessions, and links that were used ("used …")

    def begin(self, admin_key: str) -> str:
        """A new session's token."""
        token = secrets.token_urlsafe(32)
        self._load()
        self._ends[_digest(token, admin_key)] = self._clock() + SESSION_SECONDS
        self._save()
        return token

    def is_valid(self, token: str, admin_key: str) -> bool:
        self._load()
        return self._ends.get(_digest(token, admin_key), 0.0) > self._clock()

    def end(self, token: str, admin_key: str) -> None:
        self._load()
        self._ends.pop(_digest(token, admin_key), None)
        self._save()

    def redeem(self, token: str, admin_key: str) -> bool:
        """Is it the token of a link that was not used yet? Then it is now."""
        self._load()
        signed, _, signature = token.rpartition(".")
        used = f"used {_digest(token)}"
        if used in self._ends or not compare_digest(signature.encode(), _signature(signed, admin_key).encode()):
            return False
        end = float(signed.partition(".")[0])
        if end <= self._clock():
            return False
        self._ends[used] = end
        self._save()
        return True

    def _load(self) -> None:
        if self._path is not None:
            try:
                found: JsonObject = object_of(self._path.read_bytes()) or {}
            except OSError:
                found = {}
            self._ends = {name: end for name, end in found.items() if isinstance(end, float)}
        now = self._clock()
        self._ends = {name: end for name, end in self._ends.items() if end > now}

    def _save(self) -> None:
        while len(self._ends) > MAX_SESSIONS:
            del self._ends[min(self._ends, key=lambda name: self._ends[name])]
        if self._path is not None:
            part = self._path.with_suffix(f".{os.getpid()}")
            descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with open(descriptor, "wb") as file:
                file.write(dumps(self._ends))
            part.replace(self._path)


def link_token(admin_key: str, clock: Callable[[], float] = time.time) -> str:
    """The token of a link that logs in once, within the hour: when it ends, a number, and a signature of both."""
    signed = f"{int(clock()) + LINK_SECONDS}.{secrets.token_urlsafe(16)}"
    return f"{signed}.{_signature(signed, admin_key)}"


def form_token(session: str) -> str:
    """What forms of a session carry, so that no other page can send them."""
    return new_hmac(session.encode(), b"form", "sha256").hexdigest()


def cookie_header(token: str, *, secure: bool) -> bytes:
    """The value of Set-Cookie; an empty token ends it."""
    life = SESSION_SECONDS if token else 0
    text = f"{COOKIE}={token}; Path=/ui; Max-Age={life}; HttpOnly; SameSite=Strict"
    return (text + ("; Secure" if secure else "")).encode()


def session_cookie(header: bytes) -> str:
    """The session's token in a Cookie header; "" if there is none."""
    for part in header.decode("latin-1").split(";"):
        name, _, value = part.strip().partition("=")
        if name == COOKIE:
            return value
    return ""


def _signature(signed: str, admin_key: str) -> str:
    return new_hmac(admin_key.encode(), b"link " + signed.encode("utf-8", "replace"), "sha256").hexdigest()


def _digest(*parts: str) -> str:
    return sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()
