"""Secrets that the gateways of all tests use, and the search for them in everything that a gateway writes.

`WATCH` holds the secrets of every gateway that was started in this process. A leak that it finds fails the current test
(see `canary_hooks`). `canary_tap` searches the bytes that a gateway sends.
"""

from __future__ import annotations

from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Iterable
from pathlib import Path
from urllib.parse import quote, quote_plus

CLIENT_KEY = "client+canary/5e1f=&tests~"
PROVIDER_KEY = "sk-canary+/=&tests~2b7d"
SHORTEST = 6  # characters: a shorter secret may occur in any text by chance
MARK = "canary: "
OWN_FILES = ("config.json", "config.json.new", "client-key", "admin-key")  # files that are meant to hold secrets


def forms(secret: str) -> set[bytes]:
    """The encodings of a secret to search for; of base64, only the characters that do not depend on the context."""
    data = secret.encode()
    found = {secret, quote(secret), quote(secret, safe=""), quote_plus(secret), data.hex(), data.hex().upper()}
    found |= {quote(secret, safe="").lower(), "".join(f"%{byte:02X}" for byte in data), secret.replace("/", "\\/")}
    for before in (b"", b"a", b"ab"):
        start, end = -(-len(before) * 4 // 3), (len(before) + len(data)) // 3 * 4
        found |= {encode(before + data)[start:end].decode() for encode in (b64encode, urlsafe_b64encode)}
    return {each.encode() for each in found}


class Watch:
    """`know` adds secrets, `search` looks for them in data, `take` returns the leaks since the last call."""

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


def search_folder(folder: Path, watch: Watch = WATCH) -> None:
    """Search every file that a gateway has written, except those that are meant to hold secrets."""
    for file in folder.rglob("*"):
        if file.is_file() and file.name not in OWN_FILES:
            watch.search(file.read_bytes(), file.name)
