"""Protection against web pages: which `Host` names are answered, that `Origin` is our own, and `Sec-Fetch-Site`.

A page that makes a browser call a local address (DNS rebinding) sends its own name in `Host`; a page that calls the
gateway openly sends its own in `Origin`, and one that loads it as an image or a script is told apart by the browser
alone, in `Sec-Fetch-Site`. All are refused before anything else is checked.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Mapping
from typing import Final

from moongate.errors import BadRequest, Forbidden
from moongate.gateway.config.load import is_loopback

MAX_CACHED: Final = 256  # accepted Host headers
MAX_NAME: Final = 255
# A name or an address, and a port. Anything else, and be it around our own name, is no host.
_HOST: Final = re.compile(
    r"(?:\[([0-9a-f]{0,4}:[0-9a-f:.]{1,43})\]|([a-z0-9_-]+(?:\.[a-z0-9_-]+)*+\.?))(?::[0-9]{0,5})?"
)


class HostPolicy:
    """Checks `Host` and `Origin`. When listening on other than loopback, any IP address is accepted as `Host` too."""

    def __init__(self, listening: str, allowed: Iterable[str]) -> None:
        self._names = {listening.lower(), *(name.lower() for name in allowed)}
        self._any_address = not is_loopback(listening)
        self._accepted: set[bytes] = set()

    def check(self, headers: Mapping[bytes, bytes]) -> None:
        """Raises Forbidden for a foreign Host or Origin, BadRequest for a missing Host."""
        host = headers.get(b"host")
        if host not in self._accepted:
            self._check_host(host)
        origin = headers.get(b"origin")
        if origin is not None and origin not in (b"http://" + (host or b""), b"https://" + (host or b"")):
            raise Forbidden("Requests from web pages of another origin are refused", code="foreign_origin")
        site = headers.get(b"sec-fetch-site")
        if site is not None and b"cross-site" in site.lower():
            raise Forbidden("Requests from web pages of another site are refused", code="foreign_site")

    def _check_host(self, host: bytes | None) -> None:
        if not host:
            raise BadRequest("The request names no Host", code="no_host")
        name = _without_port(host.decode("latin-1").lower())
        if not (name in self._names or is_loopback(name) or (self._any_address and _is_address(name))):
            raise Forbidden("This Host is not answered here; see 'allowed_hosts'", code="foreign_host")
        if len(self._accepted) < MAX_CACHED:
            self._accepted.add(host)


def _without_port(host: str) -> str:
    """The name in a Host header; "" if it is none."""
    found = _HOST.fullmatch(host) if len(host) <= MAX_NAME else None
    return "" if found is None else found[1] or found[2]


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
