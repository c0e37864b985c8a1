"""Whom the gateway takes itself to be: the `Host` names it answers to, and no foreign `Origin`.

A web page that tricks a browser into calling a local address (DNS rebinding) shows its own name in `Host`; a page
that calls us openly shows its own in `Origin`. Both are refused before anything else is looked at.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping
from typing import Final

from moongate.errors import BadRequest, Forbidden
from moongate.gateway.config.load import is_loopback

MAX_REMEMBERED: Final = 256


class Visitors:
    """Judges `Host` and `Origin`. On an address other than loopback any IP address is our own name too."""

    def __init__(self, listening: str, allowed: Iterable[str]) -> None:
        self._names = {listening.lower(), *(name.lower() for name in allowed)}
        self._addresses = not is_loopback(listening)
        self._known: set[bytes] = set()

    def check(self, head: Mapping[bytes, bytes]) -> None:
        """Raises Forbidden for a foreign Host or Origin, BadRequest for none."""
        host = head.get(b"host")
        if host not in self._known:
            self._judge(host)
        origin = head.get(b"origin")
        if origin is not None and origin not in (b"http://" + (host or b""), b"https://" + (host or b"")):
            raise Forbidden("Requests from web pages of another origin are refused", code="foreign_origin")

    def _judge(self, host: bytes | None) -> None:
        if not host:
            raise BadRequest("The request names no Host", code="no_host")
        name = _without_port(host.decode("latin-1").lower())
        if not (name in self._names or is_loopback(name) or (self._addresses and _is_address(name))):
            raise Forbidden("This Host is not answered here; see 'allowed_hosts'", code="foreign_host")
        if len(self._known) < MAX_REMEMBERED:
            self._known.add(host)


def _without_port(host: str) -> str:
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
