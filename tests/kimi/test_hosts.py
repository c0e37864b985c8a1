from __future__ import annotations

import pytest

from moongate.kimi.generations import GENERATIONS
from moongate.kimi.hosts import HOST_NAMES, MOONSHOT_PARAMETERS, recognise_host


@pytest.mark.parametrize(
    ("base_url", "name"),
    [
        ("https://api.moonshot.ai/v1", "moonshot"),
        ("https://api.moonshot.cn", "moonshot"),
        ("https://api.kimi.com/coding/v1", "moonshot"),
        ("https://API.MOONSHOT.AI:443/v1/", "moonshot"),
        ("https://user:key@api.moonshot.ai./v1", "moonshot"),
        ("api.moonshot.ai/v1", "moonshot"),
        ("https://openrouter.ai/api", "openrouter"),
        ("https://proxy.example/api.moonshot.ai/v1", "generic"),
        ("https://api.moonshot.ai.example/v1", "generic"),
        ("http://[::1", "generic"),
        ("https://", "generic"),
        ("", "generic"),
    ],
)
def test_the_host_is_read_from_the_address(base_url: str, name: str) -> None:
    host = recognise_host(base_url)
    assert host.name == name
    assert "base URL" in host.why


@pytest.mark.parametrize("name", HOST_NAMES)
def test_the_option_wins_over_the_address(name: str) -> None:
    host = recognise_host("https://api.moonshot.ai/v1", name)
    assert host.name == name
    assert "option" in host.why


def test_every_generation_that_is_known_has_a_row_at_moonshot() -> None:
    assert {row.facts.generation for row in GENERATIONS} == {"unknown", *MOONSHOT_PARAMETERS}
