"""From an origin to a connected socket: name resolution, blocked addresses, proxy, TLS."""

from __future__ import annotations

import asyncio
import os
import re
import socket
import ssl
from base64 import b64encode
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any, Final, NamedTuple, cast
from urllib.parse import SplitResult, unquote, urlsplit

from moongate.errors import BadUpstream, ConfigError, UpstreamTimeout
from moongate.net.connection import Connection

MAX_ADDRESSES: Final = 4  # tried per name; the connect timeout is divided among them
MAX_PROXY_HEAD: Final = 16 * 1024
# Unspecified, link-local, multicast and reserved networks, and the metadata services of clouds.
RESERVED: Final = "0.0.0.0/8", "169.254.0.0/16", "224.0.0.0/3", "::", "fe80::/10", "ff00::/8"
METADATA: Final = "100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::254", "fd20:ce::254"
BLOCKED: Final = [ip_network(text) for text in RESERVED + METADATA]
_NO_TLS: Final = frozenset({"WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE"})  # plain HTTP came
NAT64: Final = ip_network("64:ff9b::/96")


class ClientCertificate(NamedTuple):
    """The certificate that authenticates the gateway to a provider (PEM files)."""

    cert_file: str
    key_file: str | None = None  # None: the key is in `cert_file`
    stamp: tuple[int, ...] = ()  # changes with the files: a renewed certificate is another one


@dataclass(frozen=True)
class Origin:
    """Where an upstream is, and how to reach it."""

    host: str
    port: int
    tls: bool
    ca_file: str | None = None  # instead of the system's certificates
    proxy: str | None = None  # http://[user:password@]host[:port]
    certificate: ClientCertificate | None = None

    @classmethod
    def parse(
        cls,
        url: str,
        *,
        ca_file: str | None = None,
        proxy: str | None = None,
        certificate: ClientCertificate | None = None,
    ) -> Origin:
        """Read scheme, host and port of `url`; its path is left to the caller."""
        try:
            host, port, tls = _host_port_tls(urlsplit(url), "http", "https")
            if proxy is not None:
                _host_port_tls(urlsplit(proxy), "http")
        except ValueError:  # the URL itself may hold a secret
            raise ConfigError("not a URL of the form http(s)://host[:port] (a proxy's: http)") from None
        return cls(host, port, tls, ca_file, proxy, certificate)

    @property
    def authority(self) -> str:
        """Host and port, as in a CONNECT request."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def _host_port_tls(url: SplitResult, *schemes: str) -> tuple[str, int, bool]:
    host, tls = url.hostname or "", url.scheme == "https"
    if url.scheme not in schemes or not host or url.port == 0:
        raise ValueError
    return host if ":" in host else host.encode("idna").decode(), url.port or (443 if tls else 80), tls


@lru_cache(maxsize=1024)
def is_blocked(address: str) -> bool:
    """True for an address that no provider has, also if it is embedded in an IPv6 address. False for a name."""
    try:
        ip: IPv4Address | IPv6Address = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(ip, IPv6Address):
        ip = IPv4Address(int(ip) & 0xFFFFFFFF) if ip in NAT64 else ip.ipv4_mapped or ip.sixtofour or ip
    return any(ip in network for network in BLOCKED)


async def dial(origin: Origin, make: Callable[[], Connection], seconds: float) -> Connection:
    """Connect within `seconds`. Raises UpstreamTimeout or BadUpstream."""
    try:
        async with asyncio.timeout(seconds):
            return await _dial(origin, make, seconds)
    except TimeoutError:
        raise UpstreamTimeout("no connection to the provider in time", code="connect_timeout") from None
    except ssl.SSLCertVerificationError as error:
        raise BadUpstream(f"its certificate is not valid: {error.verify_message}", code="certificate") from None
    except ssl.SSLError as error:
        raise _tls_error(error) from None
    except socket.gaierror as error:
        known = error.errno == socket.EAI_NONAME  # else the look-up itself failed, which may get better
        raise BadUpstream(
            "no connection to the provider: " + ("its name is unknown" if known else "its name cannot be looked up"),
            code="unknown_host" if known else "connect",
        ) from None
    except OSError as error:
        known_reason = isinstance(error, ConnectionError) and error.errno and os.strerror(error.errno)
        reason = known_reason or error.strerror or "failed"
        raise BadUpstream(f"no connection to the provider: {reason}", code="connect") from None


def _tls_error(error: ssl.SSLError) -> BadUpstream:
    found = cast(Any, error).reason  # None where the connection ended, though its type is text
    if found in _NO_TLS:
        return BadUpstream("it answers, but without TLS", code="no_tls")
    reason = found.replace("_", " ").lower() if found else "the connection ended"
    return BadUpstream(f"no connection to the provider: TLS failed: {reason}", code="connect")


async def _dial(origin: Origin, make: Callable[[], Connection], seconds: float) -> Connection:
    proxy = urlsplit(origin.proxy) if origin.proxy else None
    host, port, _ = _host_port_tls(proxy, "http") if proxy else (origin.host, origin.port, False)
    sock = await _open(host, port, seconds, origin.host)
    try:
        if proxy is not None:
            await _tunnel(sock, origin, proxy)
        context = tls_context(origin.ca_file, origin.certificate) if origin.tls else None
        name = origin.host if origin.tls else None
        loop = asyncio.get_running_loop()
        made = await loop.create_connection(cast(Any, make), sock=sock, ssl=context, server_hostname=name)
        return cast(Connection, made[1])
    except BaseException:
        sock.close()
        raise


@lru_cache
def tls_context(ca_file: str | None, certificate: ClientCertificate | None = None) -> ssl.SSLContext:
    """Verifies certificates, TLS 1.2 or newer. Cached, because it reads a large file. Raises OSError (ssl.SSLError)."""
    context = ssl.create_default_context(cafile=ca_file)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    if certificate is not None:
        # Without a password OpenSSL would ask for one on the terminal.
        context.load_cert_chain(certificate.cert_file, certificate.key_file, password="")
    return context


async def _open(host: str, port: int, seconds: float, target: str) -> socket.socket:
    loop = asyncio.get_running_loop()
    # An address needs no look-up, which would take a thread.
    found = (
        _literal_address(host, port) or (await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM))[:MAX_ADDRESSES]
    )
    if is_blocked(target) or any(is_blocked(str(address[0])) for *_, address in found):
        raise BadUpstream("the provider's address is link-local or reserved", code="address_refused")
    error = OSError()
    for family, kind, protocol, _, address in found:
        sock = socket.socket(family, kind, protocol)
        sock.setblocking(False)
        try:
            async with asyncio.timeout(seconds / len(found)) if len(found) > 1 else nullcontext():
                await loop.sock_connect(sock, address)
            return sock
        except OSError as caught:  # TimeoutError too
            sock.close()
            error = caught
        except BaseException:
            sock.close()
            raise
    raise error


def _literal_address(host: str, port: int) -> list[Any]:
    """What `getaddrinfo` returns for a host that is an IPv4 address, else an empty list."""
    try:
        IPv4Address(host)
    except ValueError:
        return []
    return [(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (host, port))]


async def _tunnel(sock: socket.socket, origin: Origin, proxy: SplitResult) -> None:
    """Ask the proxy for a tunnel to the origin (CONNECT). The proxy resolves the name."""
    loop = asyncio.get_running_loop()
    lines = [f"CONNECT {origin.authority} HTTP/1.1", f"Host: {origin.authority}"]
    if proxy.username is not None:
        user = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
        lines.append(f"Proxy-Authorization: Basic {b64encode(user.encode()).decode()}")
    await loop.sock_sendall(sock, "\r\n".join([*lines, "", ""]).encode("ascii"))
    answer = b""
    while b"\r\n\r\n" not in answer and len(answer) < MAX_PROXY_HEAD:
        data = await loop.sock_recv(sock, 4096)
        if not data:
            break
        answer += data
    if not re.match(rb"HTTP/1\.[01] 200\b", answer) or answer.find(b"\r\n\r\n") != len(answer) - 4:
        raise BadUpstream("the proxy refused a connection to the provider", code="proxy")
