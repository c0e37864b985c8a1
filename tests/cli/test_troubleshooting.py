"""docs/troubleshooting.md: the messages that it quotes are the real ones, and the repairs that it promises happen."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from tests.support.gateway import run_gateway
from tests.support.http import get

from moongate.cli.demo_agent import ask
from moongate.errors import BadUpstream, UpstreamRefused
from moongate.gateway.config.limit_settings import Timeouts
from moongate.gateway.http.provider_errors import name_provider
from moongate.net.deadlines import late_answer
from moongate.net.dial import Origin

PAGE = (Path(__file__).parents[2] / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
SECTIONS = {
    title.lower(): text for title, text in re.findall(r"^## ([^\n]*)\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE)
}
USER: dict[str, Any] = {"role": "user", "content": "hi"}
WALLS = "kimi-k2.5-sim-moonshot-walls"
CALL = {"id": "functions.weather:0", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
CALLED = [
    USER,
    {"role": "assistant", "content": "", "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "functions.weather:0", "content": "21"},
]
UNTYPED = {
    "type": "function",
    "function": {"name": "weather", "parameters": {"type": "object", "properties": {"city": {"enum": ["Beijing"]}}}},
}


def test_every_symptom_has_its_section() -> None:
    wanted = (
        "my agent stops",
        "my agent is silent",
        "markers in the text",
        "reasoning_content is missing",
        "invalid temperature",
    )
    for each in (*wanted, "not a valid moonshot flavored json schema", "401", "429", "context window"):
        assert any(each in title for title in SECTIONS), each


@pytest.mark.parametrize(
    ("title", "messages", "more"),
    [
        ("400 reasoning_content is missing", CALLED, {}),
        ("invalid temperature", [USER], {"temperature": 0.3}),
        ("not a valid moonshot flavored json schema", [USER], {"tools": [UNTYPED]}),
    ],
)
def test_a_refusal_of_moonshot_is_quoted_and_repaired(
    title: str, messages: list[dict[str, Any]], more: dict[str, Any]
) -> None:
    refused = ask(WALLS, messages, repaired=False, **more).answer
    assert refused.status == 400
    assert f"```text\n{refused.error}\n```" in SECTIONS[title]
    assert ask(WALLS, messages, repaired=True, **more).answer.status == 200


@pytest.mark.parametrize(
    ("title", "error"),
    [
        ("401", UpstreamRefused("Invalid Authentication", status=401)),
        ("my agent is silent", late_answer("first")),
        (
            "429",
            UpstreamRefused(ask("kimi-k2-sim-429", [USER], repaired=False).answer.error, status=429, retry_after=1),
        ),
    ],
)
def test_an_error_of_a_provider_is_quoted(title: str, error: BadUpstream) -> None:
    name_provider(error, "moonshot", [Origin("api.moonshot.ai", 443, tls=True)], "kimi-k2.6")
    assert f"```text\n{error}\n```" in SECTIONS[title]


def test_health_and_keep_alive_are_as_described() -> None:
    silent = SECTIONS["my agent is silent"]
    assert f"every {Timeouts().keep_alive:g} seconds" in silent
    assert Timeouts().first_event == 120  # "after two minutes"
    with run_gateway({"providers": [{"name": "p", "api_base_url": "http://127.0.0.1:9", "models": ["m"]}]}) as gateway:
        assert f"`{get(gateway.root + '/health').body.decode()}`" in silent
