"""Secrets that the gateways of all tests are given, and the search for them in everything that a gateway writes.

`WATCH` knows the secrets of every gateway that was started in this process. What it finds makes the test fail that
ran at that moment (see `canary_hooks`); in a process of its own a gateway says it on standard error.
"""

from __future__ import annotations

import asyncio
import sys
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

from moongate.gateway.protocol import Protocol

CLIENT_KEY = "client+canary/5e1f=&tests~"
PROVIDER_KEY = "sk-canary+/=&tests~2b7d"
SHORTEST = 6  # characters: what is shorter may stand in any text
MARK = "canary: "
OWN_FILES = ("config.json", "config.json.new", "client-key")  # these hold the secrets that they are for


def forms(secret: str) -> set[bytes]:
    """Ways in which a secret shows itself. Base64 without the characters that depend on its neighbours."""
    data = secret.encode()
    found = {secret, quote(secret), quote(secret, safe=""), quote_plus(secret), data.hex(), data.hex().upper()}
    found |= {quote(secret, safe="").lower(), "".join(f"%{byte:02X}" for byte in data), secret.replace("/", "\\/")}
    for before in (b"", b"a", b"ab"):
        start, end = -(-len(before) * 4 // 3), (len(before) + len(data)) // 3 * 4
        found |= {encode(before + data)[start:end].decode() for encode in (b64encode, urlsafe_b64encode)}
    return {each.encode() for each in found}


class Watch:
    """`know` secrets, `search` what is written; `take` gives what was found since the last time."""

    def __init__(self, found: Callable[[str], None] | None = None) -> None:
        self._forms: dict[bytes, str] = {}
        self._leaks: list[str] = []
        self._found = found or self._leaks.append
        self.longest = 1

    def know(self, secrets: Iterable[str]) -> None:
        for secret in secrets:
            if len(secret) >= SHORTEST:
                self._forms.update((form, secret) for form in forms(secret))
        self.longest = max(map(len, self._forms), default=1)

    def search(self, data: bytes, where: str) -> None:
        for form, secret in self._forms.items():
            at = data.find(form)
            if at >= 0:
                around = data[max(0, at - 40) : at + len(form) + 40]
                self._found(f"{MARK}{secret!r} is in {where}, as {form!r}: {around!r}")

    def take(self) -> list[str]:
        leaks, self._leaks[:] = list(self._leaks), []
        return leaks


WATCH = Watch()


def tapped(watch: Watch) -> Callable[..., Any]:
    """Makes the gateway's protocol, with every byte that it writes searched."""
    return partial(_Tapped, watch)


class _Tapped:
    """A protocol, which may be compiled, so this is no class derived from it."""

    def __init__(self, watch: Watch, *args: Any, **named: Any) -> None:
        self._watch = watch
        self._protocol = Protocol(*args, **named)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._protocol.connection_made(_Tap(transport, self._watch))  # type: ignore[arg-type]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._protocol, name)


class _Tap:
    """A transport. A secret may be cut in two by writes: the end of the last one is searched with the next."""

    def __init__(self, transport: asyncio.BaseTransport, watch: Watch) -> None:
        self._transport: Any = transport
        self._watch = watch
        self._last = b""

    def write(self, data: bytes) -> None:
        seen = self._last + data
        self._watch.search(seen, "an answer")
        self._last = seen[-self._watch.longest :]
        self._transport.write(data)

    def writelines(self, parts: Iterable[bytes]) -> None:
        self.write(b"".join(parts))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


def guard_process(secrets: Iterable[str]) -> None:
    """For a gateway in a process of its own: search what it answers from now on, and tell on standard error."""
    from moongate.gateway import server

    watch = Watch(lambda _: print(f"{MARK}a secret is in an answer", file=sys.stderr, flush=True))
    watch.know(secrets)
    setattr(server, "Connection", tapped(watch))  # noqa: B010 (for a type checker it is no name of that module)


def search_folder(folder: Path, watch: Watch = WATCH) -> None:
    """Every file that a gateway has left, but those that are made to hold a secret."""
    for file in folder.rglob("*"):
        if file.is_file() and file.name not in OWN_FILES:
            watch.search(file.read_bytes(), file.name)
