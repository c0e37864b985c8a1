from __future__ import annotations

import pytest

from moongate.errors import ConfigError
from moongate.gateway.config.address_range import AddressRange
from moongate.gateway.config.jsonc import ConfigDocument
from moongate.gateway.config.places import ConfigPlace

AT = ConfigPlace(ConfigDocument("f", None, {}), "x")


def read(value: object) -> str:
    return str(AddressRange().read(value, AT))


@pytest.mark.parametrize(
    ("given", "found"),
    [("10.0.0.1", "10.0.0.1/32"), (" 10.1.2.3/8 ", "10.0.0.0/8"), ("::1", "::1/128"), ("fd00::5/8", "fd00::/8")],
)
def test_an_address_is_a_network_of_one(given: str, found: str) -> None:
    assert read(given) == found


@pytest.mark.parametrize("given", ["proxy.local", "10.0.0.0/33", "", 7, None])
def test_anything_else_is_an_error_with_its_place(given: object) -> None:
    with pytest.raises(ConfigError, match=r"expected an IP address or network \(10.0.0.0/8\), found"):
        read(given)
