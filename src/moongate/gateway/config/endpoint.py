"""From a provider's base URL to the URL that is called; addresses that are never called."""

from __future__ import annotations

import ipaddress
import re
import socket
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from moongate.gateway.config.places import ConfigPlace
from moongate.net.dial import is_blocked

_VERSION: Final = re.compile(r"v\d+[a-z0-9]*")
# By the dialect of a provider.
LEAVES: Final = {"chat": "/chat/completions", "anthropic": "/messages", "responses": "/responses"}
_METADATA_NAMES: Final = frozenset({"metadata.google.internal", "metadata.goog", "metadata", "instance-data"})


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where requests to a provider go."""

    scheme: str
    host: str
    port: int
    path: str  # with the query, if the base had one
    leaf: str = LEAVES["chat"]

    @property
    def origin(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        usual = {"http": 80, "https": 443}[self.scheme]
        return f"{self.scheme}://{host}" + ("" if self.port == usual else f":{self.port}")

    @property
    def url(self) -> str:
        return self.origin + self.path

    def below(self, path: str) -> str:
        """Where another path of the API is: `/v1/…` beside `/chat/completions`, any other at the root of the host."""
        if not path.startswith("/v1/"):
            return path
        return self.path.partition("?")[0].removesuffix(self.leaf) + path.removeprefix("/v1")

    @property
    def query(self) -> str:
        return self.path.partition("?")[2]


def resolve_endpoint(base: str, at: ConfigPlace, dialect: str = "chat") -> Endpoint:
    """`https://x`, `https://x/v1` and `https://x/v1/chat/completions` all stand for the last one."""
    if re.search(r"[\x00-\x20\x7f-\U0010ffff\\]", base):
        raise at.error("a URL has no blanks, backslashes or characters outside ASCII")
    try:
        parts = urlsplit(base)
        port = parts.port
    except ValueError as error:
        raise at.error(f"not a URL: {error}") from None
    if parts.scheme not in ("http", "https"):
        raise at.error(f"expected a URL that begins with https:// or http://, found {base!r}")
    if parts.username is not None or parts.password is not None:
        raise at.error("no user name or password in the URL: the key belongs in 'api_key'")
    if not parts.hostname:
        raise at.error("the URL names no host")
    if parts.fragment:
        raise at.error("a URL of an API has no fragment ('#…')")
    if forbidden_address(parts.hostname):
        raise at.error(f"{parts.hostname} is a link-local or metadata address: never contacted")
    path, leaf = parts.path.rstrip("/"), LEAVES[dialect]
    if not path.endswith(leaf):
        for other, its_leaf in LEAVES.items():
            if path.endswith(its_leaf):
                raise at.error(f"{its_leaf} is the address of the dialect {other!r}: set the provider's 'dialect'")
        versioned = any(_VERSION.fullmatch(each) for each in path.split("/"))
        path += leaf if versioned else "/v1" + leaf
    if parts.query:
        path += "?" + parts.query
    default_port = 443 if parts.scheme == "https" else 80
    return Endpoint(parts.scheme, parts.hostname, port if port is not None else default_port, path, leaf)


def forbidden_address(host: str) -> bool:
    """Link-local and metadata addresses in any notation. (What a name resolves to is checked when it is dialled.)"""
    host = host.rstrip(".").lower()
    if host in _METADATA_NAMES:
        return True
    try:
        normalised = str(ipaddress.IPv4Address(socket.inet_aton(host)))  # 0xa9fea9fe, 2852039166, 169.254.43518
    except OSError:
        normalised = host
    return is_blocked(normalised)
