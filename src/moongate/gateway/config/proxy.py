"""The proxy that the environment names for a provider: `HTTPS_PROXY`, with the exceptions of `NO_PROXY`. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from ipaddress import ip_address, ip_network

from moongate.errors import ConfigError
from moongate.gateway.config.endpoint import Endpoint


def environment_proxy(endpoint: Endpoint, environment: Mapping[str, str]) -> str:
    """Its URL, "" if the provider is asked directly. Names in lower case win, as in curl.

    Raises ConfigError for a proxy of another kind: to go past it silently would be worse.
    """
    name = next((each for each in ("https_proxy", "HTTPS_PROXY") if environment.get(each, "").strip()), "")
    if endpoint.scheme != "https" or not name:
        return ""
    exceptions = environment.get("no_proxy") or environment.get("NO_PROXY") or ""
    if is_exempt(endpoint.host, endpoint.port, exceptions):
        return ""
    given = environment[name].strip()
    url = given if "://" in given else f"http://{given}"
    if not re.fullmatch(r"http://[^/\s]+/?", url):  # the value is not shown: it may hold a password
        raise ConfigError('expected http://host:port (or "proxy": "none" in the configuration)', path=f"${name}")
    return url


def is_exempt(host: str, port: int, exceptions: str) -> bool:
    """Does a list in the form of `NO_PROXY` name this host: itself, a domain above it, its network, or all (`*`)?

    >>> is_exempt("api.moonshot.ai", 443, "localhost, .moonshot.ai"), is_exempt("10.1.2.3", 443, "10.0.0.0/8")
    (True, True)
    """
    host = host.rstrip(".").lower()
    return any(_names(each.strip().lower(), host, port) for each in exceptions.split(","))


def _names(exception: str, host: str, port: int) -> bool:
    try:
        return ip_address(host) in ip_network(exception.strip("[]"), strict=False)
    except ValueError:
        pass  # one of them is a name
    name, colon, number = exception.rpartition(":")
    if colon and number.isdecimal():
        if number.lstrip("0") != str(port):
            return False
        exception = name.strip("[]")
    exception = exception.removeprefix("*").strip(".") or exception
    return exception == "*" or (exception != "" and (host == exception or host.endswith("." + exception)))
