"""How a provider is reached: its addresses, the proxy in between, and the certificates of both sides."""

from __future__ import annotations

import os
import ssl
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from moongate.gateway.config.endpoint import Endpoint, resolve_endpoint
from moongate.gateway.config.places import ConfigPlace
from moongate.gateway.config.proxy import environment_proxy
from moongate.gateway.config.settings import Provider
from moongate.net.dial import ClientCertificate, Origin, tls_context

DIRECT: Final = "none"  # as `proxy`: none, whatever the environment says


def endpoints_of(provider: Provider) -> tuple[Endpoint, ...]:
    """The URLs of a provider. Several differ only in scheme, host and port: whichever is asked, the request is one."""
    assert provider.at is not None
    at = provider.at.child("api_base_url")
    several = len(provider.api_base_url) > 1
    found: list[Endpoint] = []
    for index, base in enumerate(provider.api_base_url):
        here = at.child(index) if several else at
        endpoint = resolve_endpoint(base, here, provider.dialect)
        if found and endpoint.path != found[0].path:
            raise here.error(
                f"its path is {endpoint.path!r}, that of the first is {found[0].path!r}: make two providers"
            )
        if endpoint in found:
            raise here.error("the same address twice")
        found.append(endpoint)
    return tuple(found)


def origins_of(
    provider: Provider, endpoints: Sequence[Endpoint], folder: Path, environment: Mapping[str, str]
) -> tuple[Origin, ...]:
    """Where connections to a provider go. Raises ConfigError for files that cannot be used."""
    assert provider.at is not None
    ca_file = _path(provider.ca_file, folder)
    if ca_file is not None and not os.access(ca_file, os.R_OK):
        raise provider.at.child("ca_file").error(f"cannot be read: {provider.ca_file}")
    certificate = _certificate(provider, folder, provider.at)
    if certificate is not None and any(each.scheme != "https" for each in endpoints):
        raise provider.at.child("cert_file").error("only an https:// address asks for a certificate")
    return tuple(
        Origin.parse(
            each.origin, ca_file=ca_file, proxy=_proxy(provider, each, environment) or None, certificate=certificate
        )
        for each in endpoints
    )


def proxy_secrets(origin: Origin) -> set[str]:
    """The password in a proxy's URL, as it stands there and as it is meant."""
    password = urlsplit(origin.proxy or "").password
    return {password, unquote(password)} if password else set()


def _proxy(provider: Provider, endpoint: Endpoint, environment: Mapping[str, str]) -> str:
    if provider.proxy:
        return "" if provider.proxy == DIRECT else provider.proxy
    return environment_proxy(endpoint, environment)


def _certificate(provider: Provider, folder: Path, at: ConfigPlace) -> ClientCertificate | None:
    """Loaded once, so that a wrong one is found now and not with the first request."""
    cert_file, key_file = _path(provider.cert_file, folder), _path(provider.key_file, folder)
    if cert_file is None:
        if key_file is not None:
            raise at.child("key_file").error("a key without its certificate: set cert_file as well")
        return None
    stamps: list[int] = []
    with suppress(OSError):  # which `tls_context` says below
        stamps = [os.stat(each).st_mtime_ns for each in (cert_file, key_file) if each is not None]
    certificate = ClientCertificate(cert_file, key_file, tuple(stamps))
    try:
        tls_context(None, certificate)
    except OSError as error:
        raise at.child("cert_file").error(f"cannot be used: {_reason(error)}") from None
    return certificate


def _reason(error: OSError) -> str:
    """Without the text of OpenSSL, which names source files of its own."""
    if not isinstance(error, ssl.SSLError):
        return error.strerror or "it cannot be read"
    if error.reason == "KEY_VALUES_MISMATCH":
        return "the key belongs to another certificate"
    return "no PEM file with a certificate and its key (which may not have a password)"


def _path(given: str, folder: Path) -> str | None:
    return str(folder / Path(given).expanduser()) if given else None
