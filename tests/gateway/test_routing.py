from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from moongate.errors import BadRequest, ConfigError, NotFound
from moongate.gateway.config.load import parse_config
from moongate.gateway.routing import MAX_REMEMBERED, Routes
from moongate.payload import dumps_text


def provider(name: str, *models: Any) -> dict[str, Any]:
    return {"name": name, "api_base_url": "http://127.0.0.1:9", "models": list(models)}


def routes(*providers: dict[str, Any], **settings: Any) -> Routes:
    text = dumps_text({"providers": list(providers), **settings})
    return Routes(parse_config(text, "c.json", Path(), {}))


TWO = (provider("a", "x", "moonshotai/Kimi-K2"), provider("b", "x", {"name": "y", "alias": ["why", "why2"]}))


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("a,x", "a,x"),
        ("b/x", "b,x"),
        ("y", "b,y"),
        ("moonshotai/Kimi-K2", "a,moonshotai/Kimi-K2"),
        ("a/moonshotai/Kimi-K2", "a,moonshotai/Kimi-K2"),
        ("a,moonshotai/Kimi-K2", "a,moonshotai/Kimi-K2"),
        ("why", "b,y"),
        ("b,why2", "b,y"),
    ],
)
def test_names_are_found(asked: str, found: str) -> None:
    assert routes(*TWO).find(asked).name == found


def test_a_name_that_two_providers_have_is_ambiguous() -> None:
    with pytest.raises(NotFound) as caught:
        routes(*TWO).find("x")
    assert caught.value.message == "The model 'x' is served by several providers: ask for one of a,x, b,x"


def test_an_unknown_model_is_told_close_names() -> None:
    with pytest.raises(NotFound) as caught:
        routes(*TWO).find("moonshotai/kimi-k3")
    assert caught.value.status == 404
    assert caught.value.code == "model_not_found"
    assert "Did you mean 'moonshotai/Kimi-K2'" in caught.value.message


def test_an_unknown_model_far_from_all_is_told_what_there_is() -> None:
    with pytest.raises(NotFound, match="Known: a,x, moonshotai/Kimi-K2, b,x, y, why"):
        routes(*TWO).find("zzzzzzzzzzzzzzz" * 100)


@pytest.mark.parametrize(
    ("model", "message"), [(None, "model: is missing"), ("", "model: is missing"), (7, "model: must")]
)
def test_no_model(model: Any, message: str) -> None:
    with pytest.raises(BadRequest) as caught:
        routes(*TWO).find(model)
    assert str(caught.value).startswith(message)


def test_aliases_and_patterns_and_the_default() -> None:
    table = routes(*TWO, aliases={"gpt-5": "y", "claude-*": "a,x", "*-mini": "b,x"}, default="y")
    assert table.find("gpt-5").name == "b,y"
    assert table.find("claude-opus-5").name == "a,x"
    assert table.find("claude-mini").name == "a,x"
    assert table.find("gpt-mini").name == "b,x"
    assert table.find("anything").name == "b,y"
    assert table.find(None).name == "b,y"
    assert table.find("x").name == "b,y"
    with pytest.raises(NotFound):
        table.find("a,nothing-like-it")  # who names a provider wants that provider
    with pytest.raises(NotFound):
        table.find("b/nothing-like-it")


def test_the_memory_of_patterns_has_an_end() -> None:
    table = routes(*TWO, aliases={"claude-*": "y"})
    for number in range(MAX_REMEMBERED + 5):
        assert table.find(f"claude-{number}").name == "b,y"
    assert len(table._remembered) <= MAX_REMEMBERED


def test_fallbacks_are_kept_in_order() -> None:
    table = routes(provider("a", {"name": "x", "fallback": ["b,x", "y"]}), provider("b", "x", "y"))
    route = table.find("a,x")
    assert [table.all[index].name for index in route.fallback] == ["b,x", "b,y"]
    assert table.find("a/x") is route


def test_models_are_listed_under_their_shortest_names() -> None:
    table = routes(*TWO, aliases={"gpt-5": "y", "gpt-*": "y"})
    assert [name for name, _ in table.listed()] == ["a,x", "moonshotai/Kimi-K2", "b,x", "y", "why", "why2", "gpt-5"]


@pytest.mark.parametrize(
    ("providers", "settings", "message"),
    [
        (TWO, {"default": "z"}, "c.json:1: default: no model 'z'"),
        (TWO, {"default": "x"}, "c.json:1: default: 'x' is served by several providers: say which, a,x or b,x"),
        (TWO, {"aliases": {"q": "yy"}}, "c.json:1: aliases.q: no model 'yy', did you mean 'y'?"),
        (TWO, {"aliases": {"y": "a,x"}}, "c.json:1: aliases.y: 'y' is already the name of b,y"),
        (
            (provider("a", {"name": "x", "fallback": "a,x"}),),
            {},
            "c.json:1: providers[0].models[0].fallback: 'x' falls",
        ),
        (
            (provider("a", {"name": "x", "fallback": "q"}),),
            {},
            "c.json:1: providers[0].models[0].fallback: no model 'q'",
        ),
        (
            (provider("a", {"name": "x", "alias": "z"}, {"name": "y", "alias": "z"}),),
            {},
            "c.json:1: providers[0].models[1]: 'z' names two models of this provider",
        ),
    ],
)
def test_mistakes_are_refused(providers: Any, settings: Any, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        routes(*providers, **settings)
    assert str(caught.value).startswith(message)
