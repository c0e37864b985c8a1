from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from moongate.errors import BadRequest, ConfigError, NotFound
from moongate.gateway.config.load import parse_config
from moongate.gateway.routing.routes import MAX_CACHED, MAX_NAME_CHARS, Routes
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


def test_an_unknown_model_gets_similar_names() -> None:
    with pytest.raises(NotFound) as caught:
        routes(*TWO).find("moonshotai/kimi-k3")
    assert caught.value.status == 404
    assert caught.value.code == "model_not_found"
    assert "Did you mean 'moonshotai/Kimi-K2'" in caught.value.message


def test_an_unknown_model_without_similar_names_gets_the_known_ones() -> None:
    with pytest.raises(NotFound, match=r"Known: a,x, moonshotai/Kimi-K2, b,x, y, why, …$"):
        routes(*TWO).find("zzzzzzzzzzzzzzz" * 100)
    with pytest.raises(NotFound, match=r"Known: a$"):
        routes(provider("p", "a")).find("zzzzzzzzzzzzzzz")


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


def test_a_bracket_in_a_pattern_stands_for_itself() -> None:
    table = routes(*TWO, aliases={"claude-*[1m]": "y", "claude-*": "a,x"})
    assert [table.find(name).name for name in ("claude-opus[1m]", "claude-opus1")] == ["b,y", "a,x"]


@pytest.mark.parametrize(
    "names", [("first", "second", "third"), ("third", "second", "first"), ("second", "third", "first")]
)
def test_an_alias_may_mean_another_one_wherever_that_stands(names: tuple[str, ...]) -> None:
    meanings = {"first": "second", "second": "third", "third": "y"}
    table = routes(*TWO, aliases={**{name: meanings[name] for name in names}, "*-late": "a,x", "*": "first"})
    assert {table.find(name).name for name in (*names, "any")} == {"b,y"}
    assert table.find("too-late").name == "a,x"  # patterns keep their order
    with pytest.raises(ConfigError, match=r"aliases\.one: no model 'two'"):
        routes(*TWO, aliases={"one": "two", "two": "one"})


def test_an_alias_and_the_default_may_choose_a_strategy() -> None:
    aliases = {"thrifty": "kimi:cheap", "claude-*": "kimi:quality", "mini": "x:fast"}
    table = routes(*TWO, routes={"kimi": ROUTE}, aliases=aliases, default="kimi:fast")
    found = [table.find(name).policy for name in ("thrifty", "claude-1", "mini", "whatever", "thrifty:quality")]
    assert [None if each is None else each.strategy for each in found] == [
        *("cost", "quality", "latency", "latency", "quality")
    ]
    assert table.find("thrifty") is table.find("kimi:cheap")
    with pytest.raises(ConfigError, match=r"aliases\.a: no model 'kimi:best'"):
        routes(*TWO, routes={"kimi": ROUTE}, aliases={"a": "kimi:best"})


def test_the_cache_of_patterns_is_limited() -> None:
    table = routes(*TWO, aliases={"claude-*": "y"})
    for number in range(MAX_CACHED + 5):
        assert table.find(f"claude-{number}").name == "b,y"
    assert len(table._pattern_cache) <= MAX_CACHED


def test_a_long_name_matches_no_pattern_and_is_not_kept() -> None:
    table = routes(*TWO, aliases={"*": "y"})
    assert table.find("n" * MAX_NAME_CHARS).name == "b,y"
    with pytest.raises(NotFound) as caught:
        table.find("n" * (8 << 20))
    assert len(caught.value.message) < 1000
    assert sum(map(len, table._pattern_cache)) == MAX_NAME_CHARS


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
def test_errors_are_refused(providers: Any, settings: Any, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        routes(*providers, **settings)
    assert str(caught.value).startswith(message)


ROUTE = {"targets": [{"model": "b,x", "weight": 3}, "y"], "strategy": "cost-based-routing", "explore": 0.5}


def test_a_route_is_found_and_listed_like_a_model() -> None:
    table = routes(*TWO, routes={"kimi": ROUTE}, aliases={"gpt-*": "kimi"}, default="kimi")
    found = table.find("kimi")
    assert (found.name, found.provider, found.model) == ("kimi", "", "kimi")
    assert found.policy is not None
    assert [table.all[index].name for index in found.policy.targets] == ["b,x", "b,y"]
    assert found.policy.weights == (3.0, 1.0)
    assert (found.policy.strategy, found.policy.sticky, found.policy.explore) == ("cost", True, 0.5)
    assert table.find("gpt-5") is table.find("whatever") is found
    assert table.listed()[-1] == ("kimi", found)


def test_a_route_may_have_the_name_of_one_of_its_targets() -> None:
    table = routes(*TWO, routes={"y": ROUTE}, aliases={"z": "y"})
    assert [table.find(name).name for name in ("y", "z", "b,y", "why")] == ["y", "y", "b,y", "b,y"]
    assert [name for name, _ in table.listed()] == ["a,x", "moonshotai/Kimi-K2", "b,x", "b,y", "why", "why2", "z", "y"]


def test_a_route_may_have_the_name_that_several_providers_share() -> None:
    table = routes(*TWO, routes={"x": {"targets": ["a,x", "b,x"]}})
    assert table.find("x").name == "x"
    assert [name for name, _ in table.listed()] == ["a,x", "moonshotai/Kimi-K2", "b,x", "y", "why", "why2", "x"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"": ROUTE}, r'routes\[""\]: a route needs a name'),
        ({"y": {"targets": ["b,x"]}}, r"routes\.y: 'y' is already the name of b,y"),
        ({"why": ROUTE}, r"routes\.why: 'why' is already the name of b,y"),
        ({"b,y": ROUTE}, r'routes\["b,y"\]: \'b,y\' is already the name of b,y'),
        ({"r": {"targets": ["x"]}}, r"routes\.r\.targets\[0\]: 'x' is served by several providers"),
        ({"r": {"targets": ["nobody"]}}, r"routes\.r\.targets\[0\]: no model 'nobody'"),
        ({"r": {"targets": ["b,y", "why"]}}, r"routes\.r\.targets\[1\]: 'b,y' is a target already"),
        ({"r": {"targets": ["y"]}, "s": {"targets": ["r"]}}, r"routes\.s\.targets\[0\]: no model 'r': it is a route"),
        ({"r": {"targets": []}}, r"routes\.r\.targets: expected .* found an empty list"),
        ({"r": {"targets": ["y"], "strategy": "fastest"}}, r"routes\.r\.strategy: unknown value 'fastest'"),
        ({"r": {"targets": [{"model": "y", "weight": 0}]}}, r"routes\.r\.targets\[0\]\.weight: expected number"),
        ({"r": {"targets": ["y"], "explore": 2}}, r"routes\.r\.explore: expected number"),
    ],
)
def test_an_invalid_route_is_told_with_its_place(settings: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        routes(*TWO, routes=settings)


def test_a_route_has_a_limited_number_of_targets() -> None:
    models = [f"m{number}" for number in range(65)]
    with pytest.raises(ConfigError, match="more than 64 targets"):
        routes(provider("a", *models), routes={"r": {"targets": models}})


@pytest.mark.parametrize(("suffix", "strategy"), [("quality", "quality"), ("cheap", "cost"), ("fast", "latency")])
def test_a_suffix_chooses_the_strategy_of_one_request(suffix: str, strategy: str) -> None:
    table = routes(*TWO, routes={"kimi": ROUTE})
    found = table.find(f"kimi:{suffix}")
    assert found.policy is not None
    assert (found.policy.strategy, found.policy.weights, found.name) == (strategy, (3.0, 1.0), "kimi")
    assert table.find(f"kimi:{suffix}") is found
    assert table.find("kimi").policy is not found.policy


def test_a_suffix_behind_a_model_means_it_and_its_fallbacks() -> None:
    table = routes(provider("a", {"name": "x", "fallback": "y"}), provider("b", "y"))
    found = table.find("x:quality")
    assert found.policy is not None
    assert (found.name, found.policy.targets) == ("a,x", (0, 1))
    assert table.find("y:quality") is table.find("y")  # there is nothing to choose from


def test_a_suffix_behind_an_ambiguous_name_means_all_that_have_it() -> None:
    table = routes(*TWO)
    found = table.find("x:cheap")
    assert found.policy is not None
    assert [table.all[index].name for index in found.policy.targets] == ["a,x", "b,x"]
    with pytest.raises(NotFound):
        table.find("x")


def test_a_model_with_exactly_that_name_wins_over_a_suffix() -> None:
    table = routes(
        provider("a", "x", "x:fast"), provider("b", {"name": "z", "alias": "x:cheap"}), aliases={"y:fast": "z"}
    )
    assert table.find("x:fast").name == "a,x:fast"
    assert table.find("x:cheap").name == "b,z"
    assert table.find("y:fast").name == "b,z"


def test_a_pattern_takes_names_with_suffixes_as_it_did_before() -> None:
    table = routes(
        provider("a", {"name": "x", "fallback": "y"}, "y"), aliases={"*:fast": "y", "claude-*": "x"}, default="y"
    )
    assert table.find("claude-1:fast").name == "a,y"  # the pattern is about the suffix
    assert table.find("x:fast").name == "a,y"
    assert table.find("x:quality").policy is not None
    found = table.find("claude-1:quality")
    assert found.policy is not None
    assert (found.name, found.policy.strategy) == ("a,x", "quality")
    assert table.find("nobody:quality").policy is None
    assert table.find("claude-1:other").policy is None


def test_a_route_among_some_of_its_targets() -> None:
    ordered = routes(provider("a", {"name": "x", "fallback": ["b,y", "b,z"]}), provider("b", "y", "z")).find("x")
    assert (ordered.index, ordered.fallback) == (0, (1, 2))
    kept = ordered.among(lambda index: index > 0)
    assert (kept.index, kept.fallback, kept.name) == (1, (2,), "a,x")
    assert ordered.among(lambda _: True) is ordered
    assert ordered.among(lambda _: False) is ordered
    policy = ordered.by("cost").among(lambda index: index != 1).policy
    assert policy is not None
    assert (policy.targets, policy.weights, policy.strategy) == ((0, 2), (1.0, 1.0), "cost")
