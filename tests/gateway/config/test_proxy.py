"""The proxy of the environment."""

from __future__ import annotations

import pytest

from moongate.errors import ConfigError
from moongate.gateway.config.endpoint import Endpoint
from moongate.gateway.config.proxy import environment_proxy, is_exempt

HTTPS = Endpoint("https", "api.moonshot.ai", 443, "/v1")
HTTP = Endpoint("http", "127.0.0.1", 8000, "/v1")
PROXY = "http://proxy:3128"


@pytest.mark.parametrize(
    ("endpoint", "environment", "proxy"),
    [
        (HTTPS, {}, ""),
        (HTTPS, {"HTTPS_PROXY": "  "}, ""),
        (HTTPS, {"HTTPS_PROXY": PROXY}, PROXY),
        (HTTPS, {"HTTPS_PROXY": "proxy:3128"}, PROXY),
        (HTTPS, {"HTTPS_PROXY": "http://other:1", "https_proxy": PROXY}, PROXY),
        (HTTPS, {"HTTP_PROXY": PROXY}, ""),
        (HTTP, {"HTTPS_PROXY": PROXY}, ""),
        (HTTPS, {"HTTPS_PROXY": PROXY, "NO_PROXY": "localhost,moonshot.ai"}, ""),
        (HTTPS, {"HTTPS_PROXY": PROXY, "NO_PROXY": "*", "no_proxy": "localhost"}, PROXY),
        (HTTP, {"HTTPS_PROXY": "socks5://proxy"}, ""),  # it is not asked
    ],
)
def test_which_proxy_is_asked(endpoint: Endpoint, environment: dict[str, str], proxy: str) -> None:
    assert environment_proxy(endpoint, environment) == proxy


@pytest.mark.parametrize("url", ["socks5://proxy:1", "https://proxy:1", "http://proxy/path", "http://a b"])
def test_a_proxy_of_another_kind_is_no_way_past_it(url: str) -> None:
    with pytest.raises(ConfigError, match=r"\$HTTPS_PROXY: expected http://host:port") as caught:
        environment_proxy(HTTPS, {"HTTPS_PROXY": url})
    assert url not in str(caught.value)


@pytest.mark.parametrize(
    ("host", "exceptions", "exempt"),
    [
        ("api.moonshot.ai", "", False),
        ("api.moonshot.ai", " , ,", False),
        ("api.moonshot.ai", "*", True),
        ("api.moonshot.ai", "API.Moonshot.AI", True),
        ("api.moonshot.ai.", "api.moonshot.ai", True),
        ("api.moonshot.ai", "moonshot.ai", True),
        ("api.moonshot.ai", ".moonshot.ai", True),
        ("api.moonshot.ai", "*.moonshot.ai", True),
        ("api.moonshot.ai", "shot.ai", False),
        ("moonshot.ai", "api.moonshot.ai", False),
        ("api.moonshot.ai", "moonshot.ai:443", True),
        ("api.moonshot.ai", "moonshot.ai:8443", False),
        ("api.moonshot.ai", "10.0.0.0/8", False),
        ("10.1.2.3", "localhost,10.0.0.0/8", True),
        ("10.1.2.3", "10.1.2.3", True),
        ("10.1.2.3", "10.1.2.3:443", True),
        ("11.1.2.3", "10.0.0.0/8", False),
        ("fd00::1", "[fd00::]/8", False),  # no form that anybody writes
        ("fd00::1", "fd00::/8", True),
        ("fd00::1", "[fd00::1]", True),
        ("fd00::1", "10.0.0.0/8", False),
        ("api.moonshot.ai", "::1", False),
    ],
)
def test_exceptions(host: str, exceptions: str, exempt: bool) -> None:
    assert is_exempt(host, 443, exceptions) is exempt
