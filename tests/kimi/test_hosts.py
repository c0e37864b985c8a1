from __future__ import annotations

import pytest

from moongate.kimi.family import GENERATIONS
from moongate.kimi.hosts import HOSTS, MOONSHOT_PARAMETERS, host_of
from moongate.kimi.options import KimiOptions


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
    host = host_of(base_url, KimiOptions())
    assert host.name == name
    assert "base URL" in host.why


@pytest.mark.parametrize("name", ["moonshot", "vllm", "sglang", "openrouter", "generic"])
def test_the_option_wins_over_the_address(name: str) -> None:
    host = host_of("https://api.moonshot.ai/v1", KimiOptions.from_config({"host": name}))
    assert host.name == name
    assert "option" in host.why


def test_every_word_of_the_option_has_a_row() -> None:
    words = set(KimiOptions.__dataclass_fields__["host"].metadata["words"])
    assert words == {"auto", *(row.name for row in HOSTS)}


def test_every_generation_that_is_known_has_a_row_at_moonshot() -> None:
    assert {row.facts.generation for row in GENERATIONS} == {"unknown", *MOONSHOT_PARAMETERS}
