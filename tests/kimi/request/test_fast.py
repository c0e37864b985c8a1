from __future__ import annotations

from typing import Any

import pytest

from moongate import KimiTransformer
from moongate.chat.fast import KnownTools
from moongate.payload import dumps

LOOSE = {"type": "object", "properties": {"q": {"enum": ["a"], "format": "x"}, "a b": {"type": "string"}}}
MESSAGES = [{"role": "user", "content": "Hi"}]
RULES = {"preset": "agent", "schemaRules": "always"}


def tools(name: str = "search") -> KnownTools:
    made = [{"type": "function", "function": {"name": each, "parameters": LOOSE}} for each in (name, "other")]
    return KnownTools(dumps(made), made)


def outcome(transformer: KimiTransformer, tools: list[Any]) -> tuple[bytes, list[Any]]:
    exchange = transformer.begin({"model": "k2", "messages": MESSAGES, "tools": tools})
    return dumps(exchange.request), list(exchange.notes)


@pytest.mark.parametrize("name", ["search", "not a name"])
@pytest.mark.parametrize("options", [RULES, {"schemaRules": "off"}])
def test_known_tools_are_sent_as_unknown_ones_are(options: dict[str, Any], name: str) -> None:
    transformer = KimiTransformer.from_config(options, model="kimi-k2")
    known = tools(name)
    expected = outcome(KimiTransformer.from_config(options, model="kimi-k2"), list(known))
    assert [outcome(transformer, known) for _ in range(4)] == [expected] * 4


def test_they_are_written_once_the_cache_has_their_schemas() -> None:
    transformer = KimiTransformer.from_config(RULES, model="kimi-k2")
    known = tools()
    sent = [transformer.begin({"messages": MESSAGES, "tools": known}).request["tools"] for _ in range(4)]
    assert sent[0] is not sent[1]
    assert sent[1] is sent[2] is sent[3]


def test_each_transformer_remembers_its_own() -> None:
    known = tools()
    moonshot = "https://api.moonshot.ai/v1"
    options: list[tuple[dict[str, Any], str]] = [(RULES, ""), ({"schemaRules": "auto"}, moonshot)]
    made = [KimiTransformer.from_config(each, model="kimi-k2", base_url=url) for each, url in options]
    for _ in range(3):
        assert [outcome(each, known) for each in made] == [outcome(each, list(known)) for each in made]
